"""Whether the text that fixes make may be kept: what they promise, comments, other findings."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from nanolint.diagnostics import Severity
from nanolint.linting.registry import load

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from nanolint.diagnostics import Diagnostic, Edit, Span
    from nanolint.linting.engine import Report


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
