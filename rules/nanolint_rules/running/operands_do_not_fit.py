"""NL601: PyTorch refuses the shapes, types or devices of an operation's operands."""

from __future__ import annotations

from nanolint.rule import Cause, Context, Findings, FixAvailability, Once, Severity, rule, stops


@rule(
    "NL601",
    "operands-do-not-fit",
    Severity.ERROR,
    needs=[],
    once=Once.MESSAGE,
    stops=True,
    fix=FixAvailability.SOMETIMES,
)
def operands_do_not_fit(context: Context) -> Findings:
    """PyTorch refuses the shapes, types or devices of an operation's operands."""
    yield from stops(context, Cause.OPERANDS)
