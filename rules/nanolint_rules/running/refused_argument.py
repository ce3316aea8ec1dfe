"""NL604: PyTorch refuses an argument of a module, an optimizer or a loader."""

from __future__ import annotations

from nanolint.rule import Cause, Context, Findings, FixAvailability, Once, Severity, rule, stops


@rule(
    "NL604",
    "refused-argument",
    Severity.ERROR,
    needs=[],
    once=Once.MESSAGE,
    stops=True,
    fix=FixAvailability.SOMETIMES,
)
def refused_argument(context: Context) -> Findings:
    """PyTorch refuses an argument of a module, an optimizer or a loader."""
    yield from stops(context, Cause.ARGUMENT)
