"""NL408: a check for bfloat16 that cards without bfloat16 pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Case,
    Context,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Once,
    Safety,
    Severity,
    abilities,
    rule,
)
from nanolint_rules.torch._moving import append_argument
from nanolint_rules.torch._names import names

if TYPE_CHECKING:
    import libcst as cst

    from nanolint_rules.torch._names import Names, Use
else:
    from nanolint_rules.torch import _cst as cst

CHECK = "torch.cuda.is_bf16_supported"
CAPABILITY = "torch.cuda.get_device_capability"
EXISTS_SINCE = (2, 4)
ARGUMENT = "including_emulation"


@rule(
    "NL408",
    "emulated-bfloat16-check",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.ALWAYS,
    markers=("is_bf16_supported",),
    once=Once.RULE,
)
def emulated_bfloat16_check(context: Context) -> Findings:
    """torch.cuda.is_bf16_supported counts emulation, so it is true on every CUDA card."""
    version = context.options.oldest_torch
    if version is not None and version < EXISTS_SINCE:
        return
    if not any(map(_may_emulate, context.cases)):
        return
    resolved = names(context)
    for use in resolved.uses({CHECK}):
        if use.call.args or _asks_for_capability_too(resolved, use):
            continue
        edits = append_argument(context, use.call, f"{ARGUMENT}=False")
        yield Finding(
            message=(
                "is_bf16_supported() counts emulation, so it is true on every CUDA card; pass "
                f"{ARGUMENT}=False"
            ),
            span=context.spans([use.call])[use.call],
            fix=Fix(f"Pass {ARGUMENT}=False", Safety.UNSAFE, tuple(edits)),
            notes=("the argument needs PyTorch 2.4 or newer",) if version is None else (),
        )


def _may_emulate(case: Case) -> bool:
    """Whether the card lacks bfloat16, or no card is known."""
    gpu = case.target.gpu if case.target else None
    if gpu is None or not gpu.vendor:
        return True
    return gpu.compute_capability is not None and gpu.compute_capability < abilities.BFLOAT16


def _asks_for_capability_too(resolved: Names, use: Use) -> bool:
    statements = (
        node
        for node in resolved.ancestors(use.node)
        if isinstance(node, (cst.BaseSmallStatement, cst.BaseCompoundStatement))
    )
    return resolved.holds_call(next(statements), CAPABILITY)
