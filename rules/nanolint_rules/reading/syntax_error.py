"""NL001: nothing else can be said of a file that Python cannot read."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Need, Severity, Span, rule


@rule("NL001", "syntax-error", Severity.ERROR, needs=[Need.FAULT])
def syntax_error(context: Context) -> Findings:
    """The file is not valid Python."""
    fault = context.fault
    if fault is None:
        return
    end = min(fault.offset + 1, len(context.text))
    yield Finding(f"not valid Python: {fault.message}", Span(fault.offset, max(fault.offset, end)))
