"""NL405: the flags for TF32 that PyTorch 2.9 replaces."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Once, Related, Severity, rule
from nanolint_rules.torch._names import names

REPLACED_SINCE = (2, 9)
MODERN = {
    "torch.backends.cuda.matmul.allow_tf32": "torch.backends.cuda.matmul.fp32_precision",
    "torch.backends.cudnn.allow_tf32": "torch.backends.cudnn.conv.fp32_precision",
}


@rule(
    "NL405",
    "legacy-tf32-flags",
    Severity.INFO,
    needs=[],
    markers=("allow_tf32",),
    once=Once.RULE,
)
def legacy_tf32_flags(context: Context) -> Findings:
    """The allow_tf32 flags are used, which PyTorch 2.9 replaces by fp32_precision."""
    version = context.options.oldest_torch
    if version is not None and version < REPLACED_SINCE:
        return
    flags = list(names(context).references(MODERN))
    if not flags:
        return
    spans = context.spans([flag.node for flag in flags])
    first, *others = flags
    yield Finding(
        message=(
            "PyTorch 2.9 replaces the allow_tf32 flags by fp32_precision; "
            "reading one after setting the other can raise, so change all or none"
        ),
        span=spans[first.node],
        related=tuple(
            Related(spans[flag.node], f"replaced by {MODERN[flag.qualified]}") for flag in others
        ),
        notes=(
            f"{first.qualified} = True is now {MODERN[first.qualified]} = 'tf32'",
            "not fixed: torch.compile itself still reads the old flags, up to PyTorch 2.15",
        ),
    )
