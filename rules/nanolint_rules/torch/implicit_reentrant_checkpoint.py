"""NL407: activation checkpointing of a variant that was not asked for."""

from __future__ import annotations

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Safety,
    Severity,
    rule,
)
from nanolint_rules.torch._moving import append_argument
from nanolint_rules.torch._names import names

CHECKPOINTS = {
    "torch.utils.checkpoint.checkpoint",
    "torch.utils.checkpoint.checkpoint_sequential",
}
EXISTS_SINCE = (1, 11)
ARGUMENT = "use_reentrant"


@rule(
    "NL407",
    "implicit-reentrant-checkpoint",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.ALWAYS,
    markers=("torch.utils.checkpoint", "torch.utils import", "torch.utils as"),
)
def implicit_reentrant_checkpoint(context: Context) -> Findings:
    """torch.utils.checkpoint.checkpoint is called without use_reentrant."""
    version = context.options.oldest_torch
    if version is not None and version < EXISTS_SINCE:
        return
    for use in names(context).uses(CHECKPOINTS):
        if use.given(ARGUMENT):
            continue
        edits = append_argument(context, use.call, f"{ARGUMENT}=False")
        function = use.qualified.rpartition(".")[2]
        yield Finding(
            message=(
                f"{function}(...) without {ARGUMENT} gives no gradients if no input "
                f"requires them; pass {ARGUMENT}=False"
            ),
            span=context.spans([use.call.func])[use.call.func],
            fix=Fix(f"Pass {ARGUMENT}=False", Safety.UNSAFE, tuple(edits)),
        )
