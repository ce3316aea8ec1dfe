"""NL311: the last steps of the run are in no checkpoint."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Need, Severity, rule
from nanolint_rules._values import describe, integer


@rule("NL311", "unsaved-tail", Severity.WARNING, needs=[Need.CONFIG])
def unsaved_tail(context: Context) -> Findings:
    """max_iters is not a multiple of eval_interval, so the last steps are never saved."""
    steps, interval = integer(context.value("max_iters")), integer(context.value("eval_interval"))
    if steps is None or interval is None or steps % interval == 0 or context.value("eval_only"):
        return
    if not any(map(context.assignment, ("max_iters", "eval_interval"))):
        return
    if context.may_be_another_trainers:
        return  # a training loop of its own may save when it ends
    lost = steps % interval
    if 100 * lost < steps:
        return  # less than a hundredth of the run
    what = "no step of the run" if lost == steps else f"nothing after step {steps - lost:,}"
    written = describe(context, "eval_interval", interval)
    yield Finding(
        message=(
            f"max_iters = {steps} is not a multiple of {written}: "
            f"train.py saves only when it evaluates, so {what} is saved"
        ),
        span=context.span("max_iters", "eval_interval"),
    )
