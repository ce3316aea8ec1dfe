"""NL517: the optimizer steps, or forgets its gradients, after each pass of an accumulation."""

from __future__ import annotations

import re

from nanolint.rule import Context, Fact, Findings, Once, Severity, quoted, rule, told
from nanolint_rules.training._lines import found_at

# A number of passes, by its name. Others divide by the number of losses or of processes.
_PASSES = re.compile(r"/=?\s*\(?\s*([\w.]*(?i:accum|micro|passes)\w*)")


@rule("NL517", "step-in-micro-loop", Severity.WARNING, needs=[], once=Once.MESSAGE)
def step_in_micro_loop(context: Context) -> Findings:
    """In each pass the optimizer steps, or sets gradients back, with a loss divided by a number."""
    for each, lines in told(context, Fact.MICRO):
        case = (context.leading or context).cases[0]
        divided = quoted(case, each.other)
        named = _PASSES.search(divided[0].source) if divided else None
        (does,), number = each.words, named[1] if named else "their number"
        if named is None and does == "steps":
            continue
        when, remedy = "after each backward pass", "step after the last of these passes"
        if does == "sets back":
            does, when = "sets the gradients back", "between the backward passes of a step"
            remedy = "set them back once a step, before its first pass"
        yield found_at(
            context,
            lines,
            f"{does} {when}, with a loss that is divided by {number}: "
            "nothing is accumulated, and a step sees a part of its loss",
            does=does,
            remedy=remedy,
        )
