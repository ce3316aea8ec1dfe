"""NL507: a model is trained as it evaluates: nothing took its ``eval()`` back."""

from __future__ import annotations

from nanolint.rule import Context, Fact, Findings, Once, Severity, rule, told
from nanolint_rules.training._lines import found_at


@rule("NL507", "stuck-in-eval", Severity.WARNING, needs=[], once=Once.MESSAGE)
def stuck_in_eval(context: Context) -> Findings:
    """After an evaluation, the model goes on training in eval mode."""
    for _, lines in told(context, Fact.STUCK):
        yield found_at(
            context,
            lines,
            "after this evaluation the model stays in eval(): its dropout, or batch norm, is off "
            "for the steps that follow",
            does="sets it to evaluate",
            remedy="call train() after the evaluation",
        )
