"""NL603: a backward pass has no graph, or one that it has used already."""

from __future__ import annotations

from nanolint.rule import Cause, Context, Findings, Once, Severity, rule, stops


@rule("NL603", "unusable-graph", Severity.ERROR, needs=[], once=Once.MESSAGE, stops=True)
def unusable_graph(context: Context) -> Findings:
    """A backward pass has no graph, or one that it has used already."""
    yield from stops(context, Cause.GRAPH)
