"""A smaller step, where no accumulation keeps it: half the micro-batch, half of that, and so on."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.source.bounds import Unevaluable
from nanolint.verdict.changes import Change
from nanolint.verdict.verdict import is_comfortable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.gpus.gpu import Machine
    from nanolint.run.equation import Equation
    from nanolint.run.run import Run
    from nanolint.run.terms import Given
    from nanolint.source.values import Scalar


def smaller_steps(run: Run, equation: Equation) -> list[Change]:
    """The halves of the micro-batch, the largest first, with which the script takes smaller steps
    of as many passes."""
    free = replace(run, micro_batches=None)  # which are those that keep the step
    halves = [run.batch_size >> by for by in range(1, run.batch_size.bit_length())]
    smaller = [each for each in halves if _is_smaller(equation, each)]
    return [
        Change((("batch_size", each),), (("micro_batches", None),))
        for each in smaller
        if replace(free, batch_size=each).is_known
    ]


def _is_smaller(equation: Equation, micro_batch: int) -> bool:
    """Whether the script runs with so many sequences per pass, and as many passes a step."""
    if equation.factor is None:
        return False
    changes: dict[Given, Scalar] = {equation.factor: micro_batch}
    try:
        as_often = equation.number(equation.passes, changes) == equation.number(equation.passes)
        fewer = equation.sequences_per_step(changes) < equation.sequences_per_step()
    except Unevaluable:
        return False
    met = set(equation.broken(changes)) <= set(equation.broken())
    return as_often and fewer and met and equation.goes_the_same_way(changes)


def best_smaller_step(pairs: Sequence[tuple[Run, Machine]], equation: Equation) -> Change | None:
    """The largest of them that is comfortable everywhere, None where none is."""
    found = smaller_steps(pairs[0][0], equation)

    def fits(change: Change) -> bool:
        return all(is_comfortable(change.applied(run), target) for run, target in pairs)

    at = bisect_left(found, True, key=fits)
    return found[at] if at < len(found) else None
