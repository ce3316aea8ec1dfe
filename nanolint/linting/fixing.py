"""Apply fixes to a text until nothing is left to fix, and check the work before it is written."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from nanolint.diagnostics import Diagnostic, Safety
from nanolint.frozen import dataclass
from nanolint.linting.elsewhere import NO_OTHERS, edited_others, linted
from nanolint.linting.flaws import flaw
from nanolint.source.edits import apply_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from nanolint.diagnostics import Edit, Fix
    from nanolint.linting.elsewhere import Others
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
