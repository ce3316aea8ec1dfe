"""NL305: a value that a later line silently replaces."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from nanolint.rule import (
    EVERY,
    Context,
    Finding,
    Findings,
    Need,
    Related,
    Severity,
    Span,
    rule,
)
from nanolint_rules._values import in_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.rule import Assignment


@rule("NL305", "duplicate-assignment", Severity.WARNING, needs=[Need.CONFIG])
def duplicate_assignment(context: Context) -> Findings:
    """A key is set twice, so the first value has no effect."""
    last: dict[str, Assignment] = {}
    reads: dict[str, list[int]] = {}
    for read in sorted(context.module.reads, key=lambda read: read.span.start):
        reads.setdefault(read.name, []).append(read.span.start)
    for assignment in context.module.assignments:
        if not in_settings(context, assignment.key_span.start):
            return
        earlier = last.get(assignment.key)
        last[assignment.key] = assignment
        if earlier is None or assignment.key not in context.project.known_keys:
            continue
        if assignment.shared:
            continue  # under a condition, or one of several names
        uses = sorted((*reads.get(earlier.key, ()), *reads.get(EVERY, ())))
        if not _is_read_between(uses, earlier, assignment):
            yield _finding(context, earlier, assignment)


def _is_read_between(reads: Sequence[int], earlier: Assignment, later: Assignment) -> bool:
    """Whether the first value was of use before it was replaced; ``reads``: where it is read."""
    at = bisect_left(reads, earlier.value_span.end)
    return at < len(reads) and reads[at] < later.statement.end


def _finding(context: Context, earlier: Assignment, later: Assignment) -> Finding:
    row = context.row(later.key_span.start)
    return Finding(
        message=(
            f"{earlier.key} = {_format(earlier)} has no effect: "
            f"line {row} sets it again, to {_format(later)}"
        ),
        span=Span(earlier.key_span.start, earlier.value_span.end),
        related=(Related(Span(later.key_span.start, later.value_span.end), "this value counts"),),
    )


def _format(assignment: Assignment) -> str:
    text = " ".join(assignment.expression.split())
    return text if len(text) <= 40 else f"{text[:37]}..."
