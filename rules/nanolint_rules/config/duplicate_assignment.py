"""NL305: a value that a later line silently replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import Context, Finding, Findings, Need, Related, Severity, Span, rule
from nanolint_rules._values import in_settings

if TYPE_CHECKING:
    from nanolint.rule import Assignment


@rule("NL305", "duplicate-assignment", Severity.WARNING, needs=[Need.CONFIG])
def duplicate_assignment(context: Context) -> Findings:
    """A key is set twice, so the first value has no effect."""
    last: dict[str, Assignment] = {}
    for assignment in context.module.assignments:
        if not in_settings(context, assignment.key_span.start):
            return
        earlier = last.get(assignment.key)
        last[assignment.key] = assignment
        if earlier is None or assignment.key not in context.project.known_keys:
            continue
        if assignment.shared:
            continue  # under a condition, or one of several names
        if not _is_read_between(context, earlier, assignment):
            yield _finding(context, earlier, assignment)


def _is_read_between(context: Context, earlier: Assignment, later: Assignment) -> bool:
    """Whether the first value was of use before it was replaced."""
    return any(
        read.name == earlier.key and earlier.value_span.end <= read.span.start < later.statement.end
        for read in context.module.reads
    )


def _finding(context: Context, earlier: Assignment, later: Assignment) -> Finding:
    row = context.row(later.key_span.start)
    return Finding(
        message=(
            f"{earlier.key} = {_shown(earlier)} has no effect: "
            f"line {row} sets it again, to {_shown(later)}"
        ),
        span=Span(earlier.key_span.start, earlier.value_span.end),
        related=(Related(Span(later.key_span.start, later.value_span.end), "this value counts"),),
    )


def _shown(assignment: Assignment) -> str:
    text = " ".join(assignment.expression.split())
    return text if len(text) <= 40 else f"{text[:37]}..."
