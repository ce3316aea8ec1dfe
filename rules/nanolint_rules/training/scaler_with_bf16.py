"""NL513: a gradient scaler that is enabled and has nothing to save."""

from __future__ import annotations

import re

from nanolint.rule import Context, Fact, Findings, Once, Severity, rule, told
from nanolint_rules.training._lines import found_at

# The same program may run in float16: on another card, or with another setting.
_FLOAT16 = re.compile(r"(?<!b)(?:float16|fp16)|\.half\b")


@rule("NL513", "scaler-with-bf16", Severity.INFO, needs=[], once=Once.MESSAGE)
def scaler_with_bf16(context: Context) -> Findings:
    """A gradient scaler scales a pass in bfloat16 or float32."""
    for each, lines in told(context, Fact.HALF):
        half, how = each.words
        if how == "scaled" and not _FLOAT16.search(context.text):
            yield found_at(
                context,
                lines,
                f"scales a loss of a pass in {half}, which has float32's range: the scaler only "
                "costs time",
                does="goes back",
                remedy="make it with enabled=False",
            )
