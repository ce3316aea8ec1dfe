"""NL308: the learning rate decays over another number of steps than the run has."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Once, Severity, rule
from nanolint_rules._values import describe, integer, percent
from nanolint_rules.config._rates import replayed

KEY = "lr_decay_iters"
TOLERANCE = 10  # percent; "should be ~= max_iters"


@rule("NL308", "schedule-mismatch", Severity.WARNING, needs=[], once=Once.MESSAGE)
def schedule_mismatch(context: Context) -> Findings:
    """The schedule ends long after the run does, or long before."""
    found = list(_of_config(context)) if context.is_config else []
    yield from found or replayed(context, "early", "late")


def _of_config(context: Context) -> Findings:
    """lr_decay_iters is far from max_iters."""
    steps, decay = integer(context.value("max_iters")), integer(context.value("lr_decay_iters"))
    if steps is None or decay is None or not context.value("decay_lr"):
        return
    if context.value("eval_only") or not any(map(context.assignment, ("max_iters", KEY))):
        return
    if 100 * abs(decay - steps) <= TOLERANCE * steps:
        return
    yield Finding(
        message=f"{describe(context, KEY, decay)}, max_iters = {steps}: {_effect(steps, decay)}",
        span=context.span(KEY, "max_iters"),
    )


def _effect(steps: int, decay: int) -> str:
    if decay < steps:
        return f"the last {steps - decay:,} steps run at min_lr"
    return f"the run ends after {percent(steps, decay)} of the decay, far from min_lr"
