"""Apply fixes to a text until nothing is left to fix, and check the work before it is written."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from nanolint.diagnostics import Diagnostic, Edit, Safety, Severity
from nanolint.frozen import dataclass
from nanolint.linting.registry import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nanolint.linting.engine import Report
    from nanolint.source.assignments import Comment

MAX_PASSES = 10
# Texts that are linted to find the fixes that fail: a long one is worth fewer than a page is.
MOST_TRIES, MOST_CHARACTERS_TRIED = 100, 2_000_000


@dataclass(frozen=True, slots=True)
class Dropped:
    """A fix that failed its own check, and why it was left out."""

    diagnostic: Diagnostic
    reason: str


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Fixes that were tried together, what they make of the text, and what is wrong with it."""

    batch: list[Diagnostic]
    text: str
    report: Report
    flaw: str | None


@dataclass(frozen=True, slots=True)
class Fixed:
    """The outcome of fixing one text."""

    text: str
    applied: tuple[Diagnostic, ...]
    dropped: tuple[Dropped, ...]
    report: Report  # of the fixed text


def fix_text(
    lint: Callable[[str], Report],
    text: str,
    *,
    fixable: Callable[[Diagnostic], bool],
) -> Fixed:
    """Apply the fixes that ``fixable`` admits, re-linting until a pass finds none.

    Every pass is checked (see ``_flaw``) before it is kept; a pass with a flaw is retried by
    halves, and the fixes that fail alone are dropped.
    """
    tries = _tries(text)
    report = lint(text)
    applied: list[Diagnostic] = []
    dropped: list[Dropped] = []
    refused: set[tuple[Edit, ...]] = set()
    for _ in range(MAX_PASSES):
        chosen = _choose(report.diagnostics, fixable, refused)
        if not chosen:
            break
        for attempt in _attempts(lint, text, report, chosen, tries):
            if attempt.flaw is None:
                text, report = attempt.text, attempt.report
                applied += attempt.batch
                break
            dropped += [Dropped(each, attempt.flaw) for each in attempt.batch]
            refused.update(map(_fix_edits, attempt.batch))
    else:
        leftover = _choose(report.diagnostics, fixable, refused)
        dropped += [Dropped(d, f"fixes do not settle after {MAX_PASSES} passes") for d in leftover]
    return Fixed(text, tuple(applied), tuple(dropped), report)


def is_wanted(diagnostic: Diagnostic, *, unsafe: bool) -> bool:
    """Whether the fix of ``diagnostic``, if it has one, is to be applied."""
    fix = diagnostic.fix
    return fix is not None and (
        fix.safety is Safety.SAFE or (unsafe and fix.safety is Safety.UNSAFE)
    )


def offered(lint: Callable[[str], Report], text: str, report: Report) -> Report:
    """``report``, which is of ``text``, without the fixes that their own check refuses.

    A note says why, so that nothing is offered anywhere that ``fix_text`` would not apply.
    """
    tries = _tries(text)
    refused: dict[tuple[Edit, ...], str] = {}
    for safety in (Safety.SAFE, Safety.UNSAFE):
        seen: set[tuple[Edit, ...]] = set()
        while chosen := _choose(report.diagnostics, partial(_has, safety), seen):
            for attempt in _attempts(lint, text, report, chosen, tries):
                if attempt.flaw is not None:
                    refused.update((_fix_edits(each), attempt.flaw) for each in attempt.batch)
            seen.update(map(_fix_edits, chosen))
    if not refused:
        return report
    return replace(
        report,
        diagnostics=tuple(
            replace(each, fix=None, notes=(*each.notes, f"not fixed: {why}"))
            if (why := refused.get(_fix_edits(each)))
            else each
            for each in report.diagnostics
        ),
    )


def _has(safety: Safety, diagnostic: Diagnostic) -> bool:
    return diagnostic.fix is not None and diagnostic.fix.safety is safety


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """``text`` with non-overlapping ``edits`` applied."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits):
        pieces += (text[position : edit.start], edit.replacement)
        position = edit.end
    pieces.append(text[position:])
    return "".join(pieces)


def _fix_edits(diagnostic: Diagnostic) -> tuple[Edit, ...]:
    return diagnostic.fix.edits if diagnostic.fix else ()


def _edits(diagnostics: Iterable[Diagnostic]) -> set[Edit]:
    return {edit for diagnostic in diagnostics for edit in _fix_edits(diagnostic)}


def _tries(text: str) -> Iterator[int]:
    """One for each time that a changed ``text`` may be linted."""
    most = min(MOST_TRIES, MOST_CHARACTERS_TRIED // (len(text) + 1))
    return iter(range(max(MAX_PASSES, most)))


def _attempts(
    lint: Callable[[str], Report],
    text: str,
    report: Report,
    chosen: list[Diagnostic],
    tries: Iterator[int],
) -> Iterator[_Attempt]:
    """All fixes at once; where that has a flaw, each half, and so on down to single fixes."""
    waiting = [chosen]
    while waiting:
        batch = waiting.pop()
        if next(tries, None) is None:
            yield _Attempt(batch, text, report, "too many of the fixes fail their check")
            continue
        new_text = apply_edits(text, _edits(batch))
        new_report = lint(new_text)
        flaw = _flaw(report, new_report, batch)
        if flaw is None or len(batch) == 1:
            yield _Attempt(batch, new_text, new_report, flaw)
        else:
            half = len(batch) // 2
            waiting += (batch[half:], batch[:half])


def _choose(
    diagnostics: Sequence[Diagnostic],
    fixable: Callable[[Diagnostic], bool],
    refused: set[tuple[Edit, ...]],
) -> list[Diagnostic]:
    """Fixes that do not touch one another, safe ones first, then in order of the text.

    Two diagnostics with the very same edits (one per target GPU) share them.
    """
    candidates = [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.fix is not None
        and diagnostic.fix.edits
        and diagnostic.fix.safety is not Safety.DISPLAY
        and not diagnostic.fix.in_launch_line
        and diagnostic.fix.edits not in refused
        and fixable(diagnostic)
    ]
    candidates.sort(
        key=lambda d: (d.fix is not None and d.fix.safety is Safety.UNSAFE, _fix_edits(d))
    )
    chosen: list[Diagnostic] = []
    taken: set[Edit] = set()
    in_order: list[Edit] = []
    for diagnostic in candidates:
        edits = set(_fix_edits(diagnostic))
        if edits <= taken:
            chosen.append(diagnostic)
        elif not any(_touches(edit, in_order) for edit in edits):
            chosen.append(diagnostic)
            taken |= edits
            for edit in edits:
                insort(in_order, edit)
    return chosen


def _touches(edit: Edit, others: Sequence[Edit]) -> bool:
    """Whether ``edit`` touches one of ``others``, which are in order and do not overlap."""
    at = bisect_left(others, edit)
    return any(_touch(edit, other) for other in others[max(0, at - 1) : at + 1])


def _touch(a: Edit, b: Edit) -> bool:
    """Whether two edits overlap, or abut so that their order would matter."""
    return a.start <= b.end and b.start <= a.end


def _flaw(before: Report, after: Report, batch: Sequence[Diagnostic]) -> str | None:
    """Why the fixed text must not be kept, or None when it passes.

    It must still be judged, keep every comment that no edit rewrote, keep what its fixes promise
    to keep, lose every finding that was fixed, and gain no error.
    """
    if after.unjudged is not None:
        return f"the fixed file cannot be read: {after.unjudged}"
    if any(diagnostic.code == "NL001" for diagnostic in after.diagnostics):
        return "the fixed file is not valid Python"
    if not _is_subsequence(_untouched_comments(before, _edits(batch)), after):
        return "the fix would lose a comment"
    if all(d.fix and d.fix.promises for d in batch):
        kept = dict(after.promise)
        for name, value in before.promise:
            if kept.get(name, value) != value:
                return f"the fix would change {name} from {value} to {kept[name]}"
    fixed = {(d.code, d.gpu) for d in batch}
    counts = {
        key: _count(before, key) - sum((d.code, d.gpu) == key for d in batch) for key in fixed
    }
    for key, allowed in counts.items():
        if _count(after, key) > allowed:
            return f"{key[0]} is still reported after its fix"
    known = {_trouble(diagnostic) for diagnostic in before.diagnostics}
    for diagnostic in after.diagnostics:
        if diagnostic.severity is Severity.ERROR and _trouble(diagnostic) not in known:
            return f"the fix would cause {diagnostic.code} ({diagnostic.message})"
    return None


def _trouble(diagnostic: Diagnostic) -> tuple[str, str | None]:
    """What is wrong and where: a run that fails at another tensor than before still fails."""
    return load().family(diagnostic.code), diagnostic.gpu


def _count(report: Report, key: tuple[str, str | None]) -> int:
    return sum((d.code, d.gpu) == key for d in report.diagnostics)


def _untouched_comments(report: Report, edits: Iterable[Edit]) -> list[str]:
    """The comments that no edit overlaps, in order."""
    in_order = sorted(edits)

    def is_touched(comment: Comment) -> bool:
        at = bisect_right(in_order, comment.span.start, key=lambda edit: edit.end)
        return at < len(in_order) and in_order[at].start < comment.span.end

    return [comment.text for comment in report.comments if not is_touched(comment)]


def _is_subsequence(comments: list[str], report: Report) -> bool:
    remaining = iter(comment.text for comment in report.comments)
    return all(comment in remaining for comment in comments)
