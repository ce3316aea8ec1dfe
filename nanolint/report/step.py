"""The part of a replay that is worth a picture: one optimizer step, or the one that fails."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from nanolint.frozen import dataclass
from nanolint.tape.tape import Phase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.verdict.replay import Moment

MICRO_STEPS = 2  # shown: the first, and one on top of accumulated gradients; the others are alike


class Stretch(NamedTuple):
    """Consecutive events of one phase: ``start`` up to but without ``end``."""

    start: int
    end: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Step:
    """The moments of a step. ``phases`` and ``failed_at`` count from the first of them."""

    title: str
    moments: Sequence[Moment]
    phases: tuple[Stretch, ...]
    failed_at: int | None = None


def step_of(moments: Sequence[Moment], failed_at: int | None) -> Step:
    """The last optimizer step, where all is in place; with a failure, the step that it ends.

    A failure in an evaluation is shown with that evaluation alone, as is a run that only evaluates.
    """
    stretches = _stretches(moments)
    number = len(stretches) - 1
    if failed_at is not None:
        number = next(i for i, each in enumerate(stretches) if failed_at < each.end)
    elif any(each.phase is Phase.OPTIMIZER for each in stretches):
        number = max(i for i, each in enumerate(stretches) if each.phase is Phase.OPTIMIZER)
    title, shown = _visible(stretches, number)
    kept: list[Moment] = []
    phases = []
    failure = None
    for start, end, phase in shown:
        if failed_at is not None and start <= failed_at < end:
            failure = len(kept) + failed_at - start
        phases.append(Stretch(len(kept), len(kept) + end - start, phase))
        kept += moments[start:end]
    return Step(title, kept, tuple(phases), failure)


def _stretches(moments: Sequence[Moment]) -> list[Stretch]:
    stretches, start = [], 0
    for phase, group in groupby(moments, key=lambda moment: moment.phase):
        end = start + sum(1 for _ in group)
        stretches.append(Stretch(start, end, phase))
        start = end
    return stretches


def _visible(stretches: list[Stretch], number: int) -> tuple[str, list[Stretch]]:
    """What to call the step that the stretch of that number belongs to; what to show of it."""
    own = stretches[number]
    if own.phase is Phase.EVAL:
        return "the model is loaded, then the first estimate_loss", [own]
    if own.phase is Phase.EVAL_LATE:
        return "a later estimate_loss", [own]
    optimizers = [i for i, each in enumerate(stretches) if each.phase is Phase.OPTIMIZER]
    last = next((i for i in optimizers if i >= number), len(stretches) - 1)
    before = [i for i in optimizers if i < number]
    first = before[-1] + 1 if before else 1
    title = "a step once training is under way" if before else "the first step"
    passes = stretches[first:last]
    if len(passes) <= 2 * MICRO_STEPS:
        return title, stretches[first : last + 1]
    # A forward and a backward each: the first pair, then the one that fails or else the second.
    pair = max(2, (number - first) // 2 * 2) if number < last else 2
    return f"{title}, two micro-steps of it", [
        *passes[:2],
        *passes[pair : pair + 2],
        stretches[last],
    ]
