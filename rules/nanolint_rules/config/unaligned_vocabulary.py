"""NL316: a vocabulary of a size that matrix products are slow with."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, FixAvailability, Need, Safety, Severity, rule
from nanolint_rules._values import integer, is_asked_for, set_value

KEY = "vocab_size"
ALIGNMENT = 64
SMALLEST = 1024  # below, the product with the vocabulary costs nothing worth a word


@rule(
    "NL316",
    "unaligned-vocabulary",
    Severity.INFO,
    needs=[Need.CONFIG],
    fix=FixAvailability.SOMETIMES,
)
def unaligned_vocabulary(context: Context) -> Findings:
    """vocab_size is set to a number that is not a multiple of 64."""
    size = integer(context.value(KEY))
    if size is None or size < SMALLEST or size % ALIGNMENT == 0:
        return
    if not is_asked_for(context, KEY) or KEY not in context.project.known_keys:
        return  # nanoGPT's own train.py pads GPT-2's vocabulary by itself
    if context.value("init_from") != "scratch":
        return
    padded = (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    remedy = set_value(context, KEY, str(padded), safety=Safety.UNSAFE)
    yield Finding(
        message=(
            f"{KEY} = {size} is not a multiple of {ALIGNMENT}, which slows the largest matrix "
            f"product of the model; {padded} adds {padded - size} tokens that never occur"
        ),
        span=context.span(KEY),
        fix=remedy.fix,
        notes=remedy.notes,
    )
