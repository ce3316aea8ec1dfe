"""Apply fixes to a text until nothing is left to fix, and check the work before it is written.

A text that fixes make is kept if what they promise is so, no comment is lost and no other finding
comes. Fixes of one file may edit others: a settings file, a
module that a value is imported from; their new texts stand for them while the file is judged.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from nanolint.diagnostics import Diagnostic, Edit, Safety, Severity
from nanolint.files.door import instead, read_bytes
from nanolint.files.notes import noting
from nanolint.frozen import dataclass
from nanolint.linting.registry import load
from nanolint.source.text import apply_edits, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nanolint.diagnostics import Diagnostic, Fix, Span
    from nanolint.linting.engine import Report

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
    others: Others


@dataclass(frozen=True, slots=True)
class Fixed:
    """The outcome of fixing one text. ``others`` are the other files that its fixes edit."""

    text: str
    applied: tuple[Diagnostic, ...]
    dropped: tuple[Dropped, ...]
    report: Report  # of the fixed text
    others: Others = field(default_factory=dict)


def fix_text(
    lint: Callable[[str], Report],
    text: str,
    *,
    fixable: Callable[[Diagnostic], bool],
) -> Fixed:
    """Apply the fixes that ``fixable`` admits, re-linting until a pass finds none.

    Every pass is checked (see ``flaw``) before it is kept; a pass with a flaw is retried by
    halves, and the fixes that fail alone are dropped.
    """
    tries = _tries(text)
    report = lint(text)
    applied: list[Diagnostic] = []
    dropped: list[Dropped] = []
    refused: set[Fix | None] = set()
    others = NO_OTHERS
    for _ in range(MAX_PASSES):
        chosen = _choose(report.diagnostics, fixable, refused)
        if not chosen:
            break
        for attempt in _attempts(lint, text, report, chosen, tries, others):
            if attempt.flaw is None:
                text, report, others = attempt.text, attempt.report, attempt.others
                applied += attempt.batch
                break
            dropped += [Dropped(each, attempt.flaw) for each in attempt.batch]
            refused.update(map(_fix, attempt.batch))
    else:
        leftover = _choose(report.diagnostics, fixable, refused)
        dropped += [Dropped(d, f"fixes do not settle after {MAX_PASSES} passes") for d in leftover]
    return Fixed(text, tuple(applied), tuple(dropped), report, others)


def is_wanted(diagnostic: Diagnostic, *, unsafe: bool, alone: bool = False) -> bool:
    """Whether the fix of ``diagnostic``, if it has one, is to be applied.

    ``alone``: only where it edits no other file.
    """
    fix = diagnostic.fix
    if fix is None or (alone and fix.elsewhere):
        return False
    return fix.safety is Safety.SAFE or (unsafe and fix.safety is Safety.UNSAFE)


def offered(lint: Callable[[str], Report], text: str, report: Report) -> Report:
    """``report``, which is of ``text``, without the fixes that their own check refuses.

    A note says why, so that nothing is offered anywhere that ``fix_text`` would not apply.
    """
    tries = _tries(text)
    refused: dict[Fix | None, str] = {}
    for safety in (Safety.SAFE, Safety.UNSAFE):
        seen: set[Fix | None] = set()
        while chosen := _choose(report.diagnostics, partial(_has, safety), seen):
            for attempt in _attempts(lint, text, report, chosen, tries, NO_OTHERS):
                if attempt.flaw is not None:
                    refused.update((_fix(each), attempt.flaw) for each in attempt.batch)
            seen.update(map(_fix, chosen))
    if not refused:
        return report
    return replace(
        report,
        diagnostics=tuple(
            replace(each, fix=None, notes=(*each.notes, f"not fixed: {why}"))
            if (why := refused.get(_fix(each)))
            else each
            for each in report.diagnostics
        ),
    )


def _has(safety: Safety, diagnostic: Diagnostic) -> bool:
    return diagnostic.fix is not None and diagnostic.fix.safety is safety


def _fix(diagnostic: Diagnostic) -> Fix | None:
    """What tells fixes apart: their edits, in whatever words and with whatever safety."""
    fix = diagnostic.fix
    return fix and replace(fix, title="", safety=Safety.SAFE, promises=False)


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
    others: Others,
) -> Iterator[_Attempt]:
    """All fixes at once; where that has a flaw, each half, and so on down to single fixes."""
    waiting = [chosen]
    while waiting:
        batch = waiting.pop()
        if next(tries, None) is None:
            why = "too many of the fixes fail their check"
            yield _Attempt(batch, text, report, why, others)
            continue
        edits = {edit for each in batch if each.fix for edit in each.fix.edits}
        new_text, new_others = apply_edits(text, edits), edited_others(others, batch)
        new_report = linted(lint, new_text, new_others)
        why_not = flaw(report, new_report, batch)
        if why_not is None or len(batch) == 1:
            yield _Attempt(batch, new_text, new_report, why_not, new_others)
        else:
            half = len(batch) // 2
            waiting += (batch[half:], batch[:half])


def _choose(
    diagnostics: Sequence[Diagnostic],
    fixable: Callable[[Diagnostic], bool],
    refused: set[Fix | None],
) -> list[Diagnostic]:
    """Fixes that do not touch one another, safe ones first, then in order of the text.

    Two diagnostics with the very same edits (one per target GPU) share them.
    """
    candidates = [
        (diagnostic.fix.safety is Safety.UNSAFE, diagnostic.fix, diagnostic)
        for diagnostic in diagnostics
        if diagnostic.fix is not None
        and diagnostic.fix.placed
        and diagnostic.fix.safety is not Safety.DISPLAY
        and not diagnostic.fix.in_launch_line
        and _fix(diagnostic) not in refused
        and fixable(diagnostic)
    ]
    candidates.sort(key=lambda each: (each[0], each[1].edits))
    chosen: list[Diagnostic] = []
    taken: set[tuple[Path | None, Edit]] = set()
    in_order: defaultdict[Path | None, list[Edit]] = defaultdict(list)  # of each file
    for _, fix, diagnostic in candidates:
        edits = set(fix.placed)
        if edits <= taken:
            chosen.append(diagnostic)
        elif not any(_touches(edit, in_order[path]) for path, edit in edits):
            chosen.append(diagnostic)
            taken |= edits
            for path, edit in edits:
                insort(in_order[path], edit)
    return chosen


def _touches(edit: Edit, others: Sequence[Edit]) -> bool:
    """Whether ``edit`` touches one of ``others``, which are in order and do not overlap."""
    at = bisect_left(others, edit)
    return any(_touch(edit, other) for other in others[max(0, at - 1) : at + 1])


def _touch(a: Edit, b: Edit) -> bool:
    """Whether two edits overlap, or abut so that their order would matter."""
    return a.start <= b.end and b.start <= a.end


@dataclass(frozen=True, slots=True)
class OtherText:
    """The decoded text of another file, as it is and as fixes make it."""

    before: str
    text: str


Others: TypeAlias = "Mapping[Path, OtherText]"
NO_OTHERS: Others = MappingProxyType({})


def edited_others(others: Others, fixes: Iterable[Diagnostic]) -> Others:
    """``others`` with the edits of ``fixes``, which are of their texts, applied."""
    edits: dict[Path, dict[Edit, None]] = {}
    before = {path: other.before for path, other in others.items()}
    texts = {path: other.text for path, other in others.items()}
    for fix in (each.fix for each in fixes if each.fix):
        for file in fix.elsewhere:
            edits.setdefault(file.path, {}).update(dict.fromkeys(file.edits))
            before.setdefault(file.path, file.text)
            texts.setdefault(file.path, file.text)
    for path, each in edits.items():
        texts[path] = apply_edits(texts[path], each)
    return {path: OtherText(before[path], text) for path, text in texts.items()}


def linted(lint: Callable[[str], Report], text: str, others: Others) -> Report:
    """What ``lint`` says of ``text`` where ``others`` are as the fixes make them."""
    with shown(others):
        return lint(text)


@contextmanager
def shown(others: Others) -> Iterator[None]:
    """Let the new texts stand for their files. What is read within is no note of what is there."""
    if not others:
        yield
        return
    contents = {path: encoded(path, other) for path, other in others.items()}
    with noting(apart=True), instead(contents):
        yield


def encoded(path: Path, other: OtherText) -> bytes:
    """The bytes of the new text, as the file is encoded."""
    return encode(decode(read_bytes(path)), other.text)


def flaw(before: Report, after: Report, batch: Sequence[Diagnostic]) -> str | None:
    """Why the fixed text must not be kept, or None when it passes.

    It must still be judged, keep every comment that no edit rewrote, keep what its fixes promise
    to keep, leave every other value as it is, lose every finding that was fixed, and gain no error.
    """
    edits = {edit for each in batch if each.fix for edit in each.fix.edits}
    if after.unjudged is not None:
        return f"nanolint cannot read the fixed file: {after.unjudged}"
    if any(diagnostic.code == "NL001" for diagnostic in after.diagnostics):
        return "the fixed file is not valid Python"
    if not _is_subsequence(_untouched_comments(before, edits), after):
        return "the fix would lose a comment"
    if all(d.fix and d.fix.promises for d in batch):
        kept = dict(after.promise)
        for name, value in before.promise:
            if kept.get(name, value) != value:
                return f"the fix would change {name} from {value} to {kept[name]}"
        follows = frozenset().union(*(d.fix.follows for d in batch if d.fix))
        other = _changed_besides(before, after, edits, follows)
        if other is not None:
            return f"the fix would change {other}, too"
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


def _changed_besides(
    before: Report, after: Report, edits: Iterable[Edit], follows: Collection[str]
) -> str | None:
    """The first key with another value that no edit touches and that is not in ``follows``."""
    is_touched = _touched_by(edits)
    values = {key: value for key, value, _ in after.values}
    for key, value, statement in before.values:
        if key in follows or (statement is not None and is_touched(statement)):
            continue
        if repr(values.get(key)) != repr(value):
            return key
    return None


def _trouble(diagnostic: Diagnostic) -> tuple[str, str | None]:
    """What is wrong and where: a run that fails at another tensor than before still fails."""
    return load().family(diagnostic.code), diagnostic.gpu


def _count(report: Report, key: tuple[str, str | None]) -> int:
    return sum((d.code, d.gpu) == key for d in report.diagnostics)


def _untouched_comments(report: Report, edits: Iterable[Edit]) -> list[str]:
    """The comments that no edit overlaps, in order."""
    is_touched = _touched_by(edits)
    return [comment.text for comment in report.comments if not is_touched(comment.span)]


def _touched_by(edits: Iterable[Edit]) -> Callable[[Span], bool]:
    """Whether one of ``edits`` overlaps a span."""
    in_order = sorted(edits)

    def is_touched(span: Span) -> bool:
        at = bisect_right(in_order, span.start, key=lambda edit: edit.end)
        return at < len(in_order) and in_order[at].start < span.end

    return is_touched


def _is_subsequence(comments: list[str], report: Report) -> bool:
    remaining = iter(comment.text for comment in report.comments)
    return all(comment in remaining for comment in comments)
