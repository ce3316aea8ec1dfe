"""NL315: heads of a size that the fast attention kernels pad or refuse."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Need, Severity, rule
from nanolint_rules._values import integer

ALIGNMENT = 8


@rule("NL315", "unaligned-head-size", Severity.INFO, needs=[Need.CONFIG])
def unaligned_head_size(context: Context) -> Findings:
    """The size of an attention head is not a multiple of 8."""
    width, heads = integer(context.value("n_embd")), integer(context.value("n_head"))
    if width is None or heads is None or width % heads:
        return
    size = width // heads
    if size % ALIGNMENT == 0 or context.value("init_from") != "scratch":
        return
    if "cuda" not in str(context.value("device")):
        return
    better = max(ALIGNMENT, (2 * size + ALIGNMENT) // (2 * ALIGNMENT) * ALIGNMENT)
    yield Finding(
        message=(
            f"n_embd = {width} over n_head = {heads} makes heads of {size}, which attention "
            f"kernels pad to a multiple of {ALIGNMENT} or refuse; "
            f"n_embd = {better * heads} makes {better}"
        ),
        span=context.span("n_embd", "n_head"),
    )
