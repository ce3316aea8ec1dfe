"""NL001: nothing else can be said of a file that Python cannot read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import Context, Finding, Need, Severity, Span, rule

if TYPE_CHECKING:
    from collections.abc import Iterator


@rule("NL001", "syntax-error", Severity.ERROR, needs=[Need.FAULT])
def syntax_error(context: Context) -> Iterator[Finding]:
    """The file is not valid Python."""
    fault = context.fault
    if fault is None:
        return
    end = min(fault.offset + 1, len(context.text))
    yield Finding(f"not valid Python: {fault.message}", Span(fault.offset, max(fault.offset, end)))
