"""NL203: the card has no bfloat16, and PyTorch emulates it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    FixAvailability,
    Need,
    Safety,
    Severity,
    abilities,
    rule,
)
from nanolint_rules._values import is_key, quoted, set_value
from nanolint_rules.gpu._cards import (
    capability,
    compiles,
    emulates_bfloat16,
    format_capability,
)

if TYPE_CHECKING:
    from nanolint.rule import Case

EMULATED_SINCE = (2, 3)  # before, autocast asks for a card that has it (torch/amp/autocast_mode.py)
COUNTED = "memory is counted in float16; emulated bfloat16 takes more"


@rule(
    "NL203",
    "bfloat16-on-old-gpu",
    Severity.ERROR,
    needs=[Need.CONFIG, Need.GPU],
    fix=FixAvailability.SOMETIMES,
)
def bfloat16_on_old_gpu(context: Context) -> Findings:
    """dtype is bfloat16, set or inherited, but the GPU does not support it."""
    if not is_key(context, "dtype"):
        return
    for case in context.cases:
        version = capability(case)
        if version is None or not emulates_bfloat16(case):
            continue
        needed = format_capability(abilities.BFLOAT16)
        remedy = set_value(
            context, "dtype", quoted(context, "dtype", "float16"), safety=Safety.UNSAFE
        )
        yield Finding(
            message=(
                f"{case.gpu_name} has no bfloat16 (needs compute capability {needed}): "
                f"{_effect(case, version)}"
            ),
            remedy="set dtype = 'float16'",
            span=context.span("dtype", "compile", "device"),
            fix=remedy.fix,
            gpu=case.gpu_name,
            notes=(COUNTED, *remedy.notes) if case.resolution.in_float16 else remedy.notes,
        )


def _effect(case: Case, version: tuple[int, int]) -> str:
    run = case.resolution.run or case.resolution.outline
    if run is not None and run.torch < EMULATED_SINCE:
        return f"autocast of torch {'.'.join(map(str, run.torch))} raises RuntimeError"
    if not compiles(case) or version < abilities.TRITON:
        return "emulated, slow"
    return "emulated, slow, and not compiled"
