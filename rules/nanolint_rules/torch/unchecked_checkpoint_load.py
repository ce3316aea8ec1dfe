"""NL406: a checkpoint that may run code while it is read."""

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

CHECKED_SINCE = (2, 6)  # weights_only became the default
EXISTS_SINCE = (1, 13)
ARGUMENT = "weights_only"


@rule(
    "NL406",
    "unchecked-checkpoint-load",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.ALWAYS,
    markers=("torch.load", "from torch import", "import torch as"),
)
def unchecked_checkpoint_load(context: Context) -> Findings:
    """torch.load is called without weights_only, on a PyTorch that unpickles any object."""
    version = context.options.oldest_torch
    if version is None or not EXISTS_SINCE <= version < CHECKED_SINCE:
        return
    for use in names(context).uses({"torch.load"}):
        if use.given(ARGUMENT):
            continue
        edits = append_argument(context, use.call, f"{ARGUMENT}=True")
        yield Finding(
            message=(
                f"before PyTorch 2.6 torch.load runs code from the checkpoint; pass "
                f"{ARGUMENT}=True, the default of newer releases"
            ),
            span=context.spans([use.call.func])[use.call.func],
            fix=Fix(f"Pass {ARGUMENT}=True", Safety.UNSAFE, tuple(edits)),
        )
