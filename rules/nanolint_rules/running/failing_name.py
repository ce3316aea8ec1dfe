"""NL606: Python knows no such name, attribute, key or argument, so the run stops."""

from __future__ import annotations

from nanolint.rule import Cause, Context, Findings, Once, Severity, rule, stops


@rule("NL606", "failing-name", Severity.ERROR, needs=[], once=Once.MESSAGE, stops=True)
def failing_name(context: Context) -> Findings:
    """Python knows no such name, attribute, key or argument, so the run stops."""
    yield from stops(context, Cause.NAME)
