"""NL502: each turn of the training loop keeps tensors that no turn lets go of."""

from __future__ import annotations

from nanolint.rule import Context, Fact, Findings, Once, Severity, format_bytes, rule, told
from nanolint_rules.training._lines import found_at


@rule("NL502", "memory-leak", Severity.WARNING, needs=[], once=Once.MESSAGE)
def memory_leak(context: Context) -> Findings:
    """A list keeps tensors of each turn on the card until the run ends."""
    for each, lines in told(context, Fact.GROWS, of_parts=True):
        (of_graph,), (nbytes, turns) = each.words, each.numbers
        what = "and its graph " if of_graph else ""
        yield found_at(
            context,
            lines,
            f"keeps what it appends {what}on the card: {format_bytes(nbytes)} of each turn, "
            f"{format_bytes(nbytes * turns)} after {turns:,} turns",
            does="keeps it",
            remedy="append a number (.item()), or a copy on the host (.detach().cpu())",
        )
