"""NL204: half precision would be faster, and smaller."""

from __future__ import annotations

from dataclasses import replace
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
    amount,
    attention_kernel,
    judge,
    rule,
)
from nanolint_rules._values import describe, is_key, known, quoted, set_value
from nanolint_rules.gpu._cards import capability, every_card_has, has_tensor_cores

if TYPE_CHECKING:
    from nanolint.rule import Case


@rule(
    "NL204",
    "float32-on-tensor-cores",
    Severity.INFO,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.SOMETIMES,
)
def float32_on_tensor_cores(context: Context) -> Findings:
    """dtype is float32, and the GPU has tensor cores for half precision."""
    if not is_key(context, "dtype"):
        return
    half = "bfloat16" if every_card_has(context, abilities.BFLOAT16) else "float16"
    for case in context.cases:
        if known(case, "dtype") != "float32" or not has_tensor_cores(case):
            continue
        if case.run is None or not case.run.follows("dtype"):
            continue
        remedy = set_value(context, "dtype", quoted(context, "dtype", half), safety=Safety.UNSAFE)
        yield Finding(
            message=(f"{describe(context, 'dtype', 'float32')} {_cost(case)} {case.gpu_name}"),
            remedy=f"set dtype = {half!r}: {_peaks(case, half)}",
            span=context.span("dtype", "compile", "device"),
            fix=remedy.fix,
            gpu=case.gpu_name,
            notes=remedy.notes,
        )


def _cost(case: Case) -> str:
    """train.py allows TF32, which came with the same cards as bfloat16."""
    tf32 = (capability(case) or (0, 0)) >= abilities.BFLOAT16
    return "runs at half the tensor cores' speed on" if tf32 else "does not use the tensor cores of"


def _peaks(case: Case, half: str) -> str:
    """Peak memory in half precision and as it is, as nvidia-smi would show it."""
    run, target, now = case.run, case.needed_target, case.verdict
    assert run is not None  # the rule needs a run
    assert now is not None  # on a card of NVIDIA's
    halved = replace(run, dtype=half)
    if run.program is None:
        kernel = attention_kernel(
            target.gpu,
            dtype=half,
            head_size=run.sizes.head_size,
            dropout=bool(run.sizes.dropout),
        )
        halved = replace(halved, attention=kernel)
    then = judge(halved, target)
    return (
        f"peak memory would be {amount(then.process_bytes)} instead of {amount(now.process_bytes)}"
    )
