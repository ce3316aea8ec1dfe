"""NL307: GPT-2 has position embeddings for 1024 tokens."""

from __future__ import annotations

from nanolint.rule import (
    PRETRAINED_CONTEXT,
    PRETRAINED_SIZES,
    Context,
    Finding,
    Findings,
    FixAvailability,
    Need,
    Safety,
    Severity,
    rule,
)
from nanolint_rules._values import describe, integer, set_value


@rule(
    "NL307",
    "context-beyond-checkpoint",
    Severity.ERROR,
    needs=[Need.CONFIG],
    fix=FixAvailability.SOMETIMES,
    stops=True,
)
def context_beyond_checkpoint(context: Context) -> Findings:
    """block_size is longer than the checkpoint's position embeddings."""
    block, start = integer(context.value("block_size")), context.value("init_from")
    if not isinstance(start, str) or start not in PRETRAINED_SIZES:
        return
    if block is None or block <= PRETRAINED_CONTEXT:
        return
    remedy = set_value(context, "block_size", str(PRETRAINED_CONTEXT), safety=Safety.UNSAFE)
    yield Finding(
        message=(
            f"{describe(context, 'block_size', block)} is longer than the {PRETRAINED_CONTEXT} "
            f"positions of {start!r}: model.py asserts block_size <= {PRETRAINED_CONTEXT}"
        ),
        span=context.span("block_size", "init_from"),
        fix=remedy.fix,
        notes=remedy.notes,
    )
