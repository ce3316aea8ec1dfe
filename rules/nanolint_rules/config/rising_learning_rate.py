"""NL310: the decay goes up."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Once, Severity, rule
from nanolint_rules._values import describe
from nanolint_rules.config._rates import replayed


@rule("NL310", "rising-learning-rate", Severity.WARNING, needs=[], once=Once.MESSAGE)
def rising_learning_rate(context: Context) -> Findings:
    """The learning rate rises in its decay, or after it."""
    found = list(_of_config(context)) if context.is_config else []
    yield from found or replayed(context, "rises")


def _of_config(context: Context) -> Findings:
    """min_lr is above learning_rate, so the decay raises the learning rate."""
    highest, lowest = context.value("learning_rate"), context.value("min_lr")
    if not isinstance(highest, (int, float)) or not isinstance(lowest, (int, float)):
        return
    if not context.value("decay_lr") or context.value("eval_only") or lowest <= highest:
        return
    yield Finding(
        message=(
            f"{describe(context, 'min_lr', lowest)} is above "
            f"{describe(context, 'learning_rate', highest)}: the learning rate rises as it "
            f"decays; min_lr = {highest / 10:g} is a tenth, as usual"
        ),
        span=context.span("min_lr", "learning_rate"),
    )
