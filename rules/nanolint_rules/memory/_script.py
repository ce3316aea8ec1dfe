"""Micro-batches of scripts that say themselves how their values follow from what they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import as_written, best_smaller_step, describe
from nanolint_rules._given import ON_LINE, place_of, shared_with

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.rule import Change, Context, Equation, Given, Machine, Run, Scalar, Span


def equation_of(context: Context) -> Equation | None:
    """How large a step of the script is, where it is not nanoGPT's kind."""
    found = context.settings.described
    return None if found is None else found.equation


def in_script(context: Context, change: Change) -> Mapping[Given, Scalar] | None:
    """What to write in the script for another micro-batch, its tokens per step kept.

    None where the script is nanoGPT's kind.
    """
    equation, size = equation_of(context), change.counts.get("batch_size")
    return None if equation is None or size is None else equation.changes_for(size)


def micro_batch_span(context: Context) -> Span | None:
    """Where the micro-batch of such a script is given."""
    equation = equation_of(context)
    return None if equation is None else place_of(context, equation, equation.loop)


def micro_batch_key(context: Context) -> str:
    """What the script calls its micro-batch."""
    equation = equation_of(context)
    return "batch_size" if equation is None or equation.factor is None else equation.factor.key


def fixed_micro_batch(context: Context) -> str | None:
    """That no value of the script makes its micro-batch smaller, where that is so."""
    equation, run = equation_of(context), context.run
    if equation is None or run is None:
        return None
    if equation.factor is None:
        how = describe(equation.micro_batch)
        return f"the micro-batch is {how}; no value makes it smaller and keeps the tokens per step"
    if run.micro_batches is None or min(run.micro_batches) < run.batch_size:
        return None
    passes = equation.number(equation.passes)
    often = "one backward pass" if passes == 1 else f"{passes:,} backward passes"
    return (
        f"no smaller {equation.factor.key} keeps {equation.tokens_per_step():,} tokens a step: "
        f"the script makes {often} per step"
    )


def smaller_step(context: Context, pairs: Sequence[tuple[Run, Machine]]) -> str:
    """What fits in a smaller step, where nothing accumulates to keep it as it is; or nothing."""
    equation = equation_of(context)
    if equation is None or equation.factor is None:
        return ""
    found = best_smaller_step(pairs, equation)
    if found is None:
        return ""
    changes = {equation.factor: found.counts["batch_size"]}
    return f"{as_written(changes)} fits, with {equation.tokens_per_step(changes):,} tokens a step"


def unsafe_for_others(context: Context, changes: Mapping[Given, Scalar]) -> tuple[str, ...]:
    """Why other runs could be refused, or be others, with these values: a line, or none.

    A divisor of a micro-batch that divides a total divides it, too, for any number of processes.
    """
    shared = shared_with(context, changes)
    if shared is not None:
        return (shared,)
    for given, value in changes.items():
        if given.surface in ON_LINE or not (
            isinstance(given.value, int) and isinstance(value, int)
        ):
            continue
        if len(changes) > 1 or given.value % value:
            return (f"unsafe: other launches of this script may not accept {given.key} = {value}",)
    return ()
