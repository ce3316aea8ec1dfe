"""NL404: the choice of attention kernels moved to torch.nn.attention."""

from __future__ import annotations

import re
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
from nanolint_rules.torch._moving import groups, replace_import
from nanolint_rules.torch._names import names

if TYPE_CHECKING:
    import libcst as cst

    from nanolint_rules.torch._names import Names, Use
else:
    from nanolint_rules.torch import _cst as cst

DEPRECATED = "torch.backends.cuda.sdp_kernel"
HOME = "torch.nn.attention"
MODERN, BACKEND = "sdpa_kernel", "SDPBackend"
DEPRECATED_SINCE = (2, 3)  # which is also the first release with the new one
# The old parameters in their order; each is true unless it is given.
FLASH, MATH, EFFICIENT, CUDNN = PARAMETERS = (
    "enable_flash",
    "enable_math",
    "enable_mem_efficient",
    "enable_cudnn",
)
# In the order in which the old function hands them to the new one.
MEMBERS = {
    FLASH: "FLASH_ATTENTION",
    EFFICIENT: "EFFICIENT_ATTENTION",
    MATH: "MATH",
    CUDNN: "CUDNN_ATTENTION",
}


@rule(
    "NL404",
    "deprecated-sdp-kernel",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=("sdp_kernel",),
)
def deprecated_sdp_kernel(context: Context) -> Findings:
    """torch.backends.cuda.sdp_kernel is called, which PyTorch 2.3 deprecates."""
    version = context.options.oldest_torch
    if version is not None and version < DEPRECATED_SINCE:
        return
    resolved = names(context)
    uses = [
        use
        for use in resolved.uses({DEPRECATED})
        if not resolved.is_fallback(use, f"{HOME}.{MODERN}")
    ]
    for group in groups(uses):
        fix = _fix(context, resolved, group)
        for use in group:
            yield Finding(
                message=(
                    f"{DEPRECATED}(...) is deprecated since PyTorch 2.3; use {HOME}.{MODERN}([...])"
                ),
                span=context.spans([use.node])[use.node],
                fix=fix,
                notes=("the new call needs PyTorch 2.3 or newer",) if version is None else (),
            )


def _fix(context: Context, resolved: Names, group: list[Use]) -> Fix | None:
    node = group[0].node
    kernel = resolved.name_of(f"{HOME}.{MODERN}", node)
    backend = resolved.name_of(f"{HOME}.{BACKEND}", node)
    missing = [name for name, known in ((BACKEND, backend), (MODERN, kernel)) if known is None]
    if any(resolved.scope(node)[name] for name in missing):
        return None  # the name means something else here
    line = f"from {HOME} import {', '.join(missing)}" if missing else None
    edits = replace_import(context, resolved, group, line)
    calls = [_modern(context, use, kernel or MODERN, backend or BACKEND) for use in group]
    if edits is None or None in calls:
        return None
    edits += (edit for edit in calls if edit is not None)
    return Fix(f"Call {HOME}.{MODERN}", Safety.SAFE, tuple(sorted(edits)))


def _modern(context: Context, use: Use, kernel: str, backend: str) -> Edit | None:
    """The call with the same kernels enabled, over lines where it was."""
    enabled = _enabled(use.call)
    span = context.spans([use.call])[use.call]
    text = context.text[span.start : span.end]
    if enabled is None or "#" in text or not text.endswith(")"):
        return None
    members = [f"{backend}.{MEMBERS[parameter]}" for parameter in MEMBERS if enabled[parameter]]
    over_lines = re.search(r"\(([\r\n]+[ \t]*)[\s\S]*?(\s*)\)\Z", text)
    gap, end = over_lines.groups() if over_lines and members else ("", "")
    listed = f",{gap or ' '}".join(members)
    return Edit(span.start, span.end, f"{kernel}([{gap}{listed}{',' if gap else ''}{end}])")


def _enabled(call: cst.Call) -> dict[str, bool] | None:
    """What each parameter is, None where only a run could tell."""
    enabled = dict.fromkeys(PARAMETERS, True)
    for parameter, argument in zip(PARAMETERS, call.args, strict=False):
        name = argument.keyword.value if argument.keyword else parameter
        value = argument.value.value if isinstance(argument.value, cst.Name) else None
        if argument.star or name not in enabled or value not in ("True", "False"):
            return None
        enabled[name] = value == "True"
    return enabled
