"""NL607: an import that no installation can mend ends the run."""

from __future__ import annotations

from nanolint.rule import Cause, Context, Findings, Once, Severity, rule, stops


@rule("NL607", "failing-import", Severity.ERROR, needs=[], once=Once.MESSAGE, stops=True)
def failing_import(context: Context) -> Findings:
    """An import that no installation can mend ends the run."""
    yield from stops(context, Cause.IMPORT)
