"""NL602: an index, or the number of a dimension, is beyond the size of a tensor."""

from __future__ import annotations

from nanolint.rule import Cause, Context, Findings, Once, Severity, rule, stops


@rule("NL602", "index-beyond-size", Severity.ERROR, needs=[], once=Once.MESSAGE, stops=True)
def index_beyond_size(context: Context) -> Findings:
    """An index, or the number of a dimension, is beyond the size of a tensor."""
    yield from stops(context, Cause.INDEX)
