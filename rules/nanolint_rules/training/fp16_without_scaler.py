"""NL512: a backward pass in float16 whose loss nothing scales."""

from __future__ import annotations

from nanolint.rule import Context, Fact, Findings, Once, Severity, rule, told
from nanolint_rules.training._lines import found_at


@rule("NL512", "fp16-without-scaler", Severity.WARNING, needs=[], once=Once.MESSAGE)
def fp16_without_scaler(context: Context) -> Findings:
    """A backward pass in float16 has no gradient scaler."""
    for each, lines in told(context, Fact.HALF):
        if each.words == ("float16", "plain"):
            yield found_at(
                context,
                lines,
                "gradients below 6e-8 become 0 in float16, and nothing scales the loss",
                does="goes back",
                remedy="use torch.amp.GradScaler, or bfloat16",
            )
