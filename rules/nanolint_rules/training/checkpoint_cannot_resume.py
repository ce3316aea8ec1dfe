"""NL514: a checkpoint has weights and a step, and no state of the optimizer."""

from __future__ import annotations

from nanolint.rule import Context, Fact, Findings, Once, Severity, rule, told
from nanolint_rules.training._lines import found_at


@rule("NL514", "checkpoint-cannot-resume", Severity.WARNING, needs=[], once=Once.MESSAGE)
def checkpoint_cannot_resume(context: Context) -> Findings:
    """A run that goes on from this checkpoint starts its optimizer anew."""
    for each, lines in told(context, Fact.LACKS):
        optimizer, loads = each.words
        yield found_at(
            context,
            lines,
            f"saves the weights and the step, and not the state of {optimizer}: a run that goes on "
            "from there starts its moments from zero",
            does="saves it",
            remedy="save the optimizer's state_dict(), too",
            severity=None if loads else Severity.INFO,
        )
