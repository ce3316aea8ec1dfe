"""NL517: the optimizer steps after each pass of an accumulation."""

from __future__ import annotations

import re

from nanolint.rule import Context, Fact, Findings, Once, Severity, quoted, rule, told
from nanolint_rules.training._lines import found_at

# A number of passes, by its name. Others divide by the number of losses or of processes.
_PASSES = re.compile(r"/=?\s*\(?\s*([\w.]*(?i:accum|micro|passes)\w*)")


@rule("NL517", "step-in-micro-loop", Severity.WARNING, needs=[], once=Once.MESSAGE)
def step_in_micro_loop(context: Context) -> Findings:
    """The optimizer steps in each pass, with a loss that is divided by the number of passes."""
    for each, lines in told(context, Fact.MICRO):
        case = (context.leading or context).cases[0]
        divided = quoted(case, each.other)
        named = _PASSES.search(divided[0].source) if divided else None
        if named is not None:
            yield found_at(
                context,
                lines,
                f"steps after each backward pass, with a loss that is divided by {named[1]}: "
                "nothing is accumulated, and a step sees a part of its loss",
                does="steps",
                remedy="step after the last of these passes",
            )
