"""NL206: train.py autocasts on CUDA devices only."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Need, Severity, rule
from nanolint_rules._values import is_asked_for, is_key


@rule("NL206", "ignored-dtype", Severity.INFO, needs=[Need.CONFIG])
def ignored_dtype(context: Context) -> Findings:
    """dtype is set, but train.py does not read it on this device."""
    if not is_key(context, "dtype"):
        return
    dtype, device = context.value("dtype"), context.value("device")
    if dtype not in ("bfloat16", "float16") or not is_asked_for(context, "dtype"):
        return
    if not isinstance(device, str) or "cuda" in device:
        return
    yield Finding(
        message=(
            f"dtype = {dtype!r} has no effect on device = {device!r}: train.py autocasts only on "
            "cuda, so the run computes in float32; dtype = 'float32' says so"
        ),
        span=context.span("dtype", "device"),
    )
