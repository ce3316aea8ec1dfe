"""What a run that does not fit would take in float16, on a card that only emulates bfloat16."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.memory.verdict.search import best_micro_batch
from nanolint.memory.verdict.verdict import judge
from nanolint.rule import Known
from nanolint.trainers.nanogpt.resolve import resolve
from nanolint_rules._values import is_key
from nanolint_rules.gpu._cards import emulates_bfloat16

if TYPE_CHECKING:
    from nanolint.rule import Context, Machine
    from nanolint.run.run import Run


def float16_advice(context: Context, partner: str) -> str | None:
    """How the run fares once NL203 is mended; None where every target has bfloat16.

    Emulated bfloat16 is not compiled and has no attention kernel, so that it takes more memory.
    """
    if not is_key(context, "dtype") or not any(map(emulates_bfloat16, context.cases)):
        return None
    pairs = _pairs(context)
    if all(judge(*pair).fits for pair in pairs):
        return "with dtype = 'float16' (NL203) it fits as it is"
    found = best_micro_batch(pairs)
    if found is None:
        return "with dtype = 'float16' (NL203) it would not fit either"
    other = found.gradient_accumulation_steps if found.eval_iters is None else found.eval_iters
    return (
        f"with dtype = 'float16' (NL203), batch_size = {found.batch_size} with "
        f"{partner} = {other} fits"
    )


def _pairs(context: Context) -> list[tuple[Run, Machine]]:
    """The run in float16 on each target."""
    overrides = (*context.options.overrides, ("dtype", Known("float16")))
    options = replace(context.options, overrides=overrides)
    resolved = (
        (
            resolve(context.module, context.project, options, target, config_path=context.path),
            target,
        )
        for target in (case.target for case in context.cases)
        if target is not None
    )
    return [(found.run, target) for found, target in resolved if found.run is not None]
