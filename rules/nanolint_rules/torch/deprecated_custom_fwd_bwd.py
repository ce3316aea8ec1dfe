"""NL403: custom_fwd and custom_bwd moved to torch.amp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Edit,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Safety,
    Severity,
    rule,
)
from nanolint_rules.torch._moving import append_argument, groups, move, quoted
from nanolint_rules.torch._names import names

if TYPE_CHECKING:
    import libcst as cst

    from nanolint_rules.torch._names import Names, Reference
else:
    from nanolint_rules.torch import _cst as cst

DEPRECATED_SINCE = (2, 4)  # which is also the first release with the new ones
MODERN = {
    f"torch.cuda.amp.{module}{name}": f"torch.amp.{name}"
    for module in ("", "autocast_mode.")
    for name in ("custom_fwd", "custom_bwd")
}
ARGUMENT = "device_type"


@rule(
    "NL403",
    "deprecated-custom-fwd-bwd",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=("custom_fwd", "custom_bwd"),
)
def deprecated_custom_fwd_bwd(context: Context) -> Findings:
    """torch.cuda.amp.custom_fwd or custom_bwd is used, which PyTorch 2.4 deprecates."""
    version = context.options.oldest_torch
    if version is not None and version < DEPRECATED_SINCE:
        return
    resolved = names(context)
    uses = [
        use
        for use in resolved.references(MODERN)
        if not resolved.is_fallback(use, MODERN[use.qualified])
    ]
    for group in groups(uses):
        fix = _fix(context, resolved, group)
        for use in group:
            modern = MODERN[use.qualified]
            yield Finding(
                message=(
                    f"torch.cuda.amp.{modern.rpartition('.')[2]} is deprecated since PyTorch 2.4; "
                    f"use {modern}(..., {ARGUMENT}='cuda')"
                ),
                span=context.spans([use.node])[use.node],
                fix=fix,
                notes=("the new one needs PyTorch 2.4 or newer",) if version is None else (),
            )


def _fix(context: Context, resolved: Names, group: list[Reference]) -> Fix | None:
    edits = move(context, resolved, group, MODERN)
    if edits is None:
        return None
    for use in group:
        of_device = _device_edits(context, resolved, use)
        if of_device is None:
            return None
        edits += of_device
    return Fix(f"Use {MODERN[group[0].qualified]}", Safety.SAFE, tuple(sorted(edits)))


def _device_edits(context: Context, resolved: Names, use: Reference) -> list[Edit] | None:
    """Name the device to a call or to a bare decorator; anything else takes a human."""
    parent = next(resolved.ancestors(use.node))
    argument = f"{ARGUMENT}={quoted(context, 'cuda')}"
    if isinstance(parent, cst.Call) and parent.func is use.node:
        return append_argument(context, parent, argument)
    if isinstance(parent, cst.Decorator):
        end = context.spans([use.node])[use.node].end
        return [Edit(end, end, f"({argument})")]
    return None
