"""NL309: the run ends, or decays, before the learning rate has warmed up."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Once, Severity, rule
from nanolint_rules._values import describe, integer, percent
from nanolint_rules.config._rates import replayed

KEYS = ("warmup_iters", "max_iters", "lr_decay_iters")


@rule("NL309", "endless-warmup", Severity.WARNING, needs=[], once=Once.MESSAGE)
def endless_warmup(context: Context) -> Findings:
    """The warm-up is as long as the run or its decay, so the full rate is never used."""
    found = list(_of_config(context)) if context.is_config else []
    yield from found or replayed(context, "warm-up", "zero")


def _of_config(context: Context) -> Findings:
    """warmup_iters is as long as the run or its decay."""
    warmup, steps, decay = (integer(context.value(key)) for key in KEYS)
    if warmup is None or steps is None or decay is None or not context.value("decay_lr"):
        return
    if context.value("eval_only") or not any(map(context.assignment, KEYS)):
        return
    if warmup < min(steps, decay):
        return
    limit, end = ("max_iters", steps) if warmup >= steps else ("lr_decay_iters", decay)
    yield Finding(
        message=(
            f"{describe(context, 'warmup_iters', warmup)} is not below {limit} = {end}: "
            f"{_effect(warmup, steps, decay)}"
        ),
        span=context.span("warmup_iters", limit),
    )


def _effect(warmup: int, steps: int, decay: int) -> str:
    if warmup > steps:
        return f"the run ends at {percent(steps, warmup)} of learning_rate"
    if warmup == steps:
        return "the run ends together with the warm-up"
    if warmup == decay:
        return f"step {warmup} divides by zero"
    return "the learning rate drops to min_lr right after the warm-up"
