"""NL605: an assert, a raise or an exit of the script ends the run."""

from __future__ import annotations

from nanolint.rule import Cause, Context, Findings, Once, Severity, rule, stops


@rule("NL605", "failing-check", Severity.ERROR, needs=[], once=Once.MESSAGE, stops=True)
def failing_check(context: Context) -> Findings:
    """An assert, a raise or an exit of the script ends the run."""
    yield from stops(context, Cause.CHECK)
