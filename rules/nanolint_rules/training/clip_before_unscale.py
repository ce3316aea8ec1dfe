"""NL505: gradients are clipped while they are multiplied by the scale of the loss."""

from __future__ import annotations

import re

from nanolint.rule import Context, Fact, Findings, FixAvailability, Once, Severity, rule, told
from nanolint_rules.training._lines import found_at, line_beside

_STEP = re.compile(r"(\w+(?:\.\w+)*)\.step\((\w+(?:\.\w+)*)\)")


@rule(
    "NL505",
    "clip-before-unscale",
    Severity.WARNING,
    needs=[],
    once=Once.MESSAGE,
    fix=FixAvailability.SOMETIMES,
)
def clip_before_unscale(context: Context) -> Findings:
    """Gradients are clipped before the scaler has divided them by its scale."""
    for _, lines in told(context, Fact.CLIPPED):
        steps = _STEP.findall(context.text)
        scaler, optimizer = steps[0] if len(steps) == 1 else ("scaler", "optimizer")
        call = f"{scaler}.unscale_({optimizer})"
        yield found_at(
            context,
            lines,
            "clips gradients that are still times the scale of the loss, 65,536 at the start: "
            "hardly anything of a gradient is left",
            does="clips",
            remedy=f"call {call} before",
            fix=line_beside(context, lines, call, above=True) if len(steps) == 1 else None,
        )
