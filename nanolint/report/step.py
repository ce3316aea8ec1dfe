"""The part of a replay that is worth a picture: one optimizer step, or the one that fails."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from nanolint.memory.stream import Phase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.memory.replay import Moment


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive events of one phase: ``start`` up to but without ``end``."""

    start: int
    end: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Step:
    """Consecutive moments. ``phases`` and ``failed_at`` count from the first of them."""

    title: str
    moments: Sequence[Moment]
    phases: tuple[tuple[int, int, Phase], ...]
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
    title, first, last = _bounds(stretches, number)
    start, end = stretches[first].start, stretches[last].end
    return Step(
        title=title,
        moments=moments[start:end],
        phases=tuple(
            (each.start - start, each.end - start, each.phase)
            for each in stretches[first : last + 1]
        ),
        failed_at=None if failed_at is None else failed_at - start,
    )


def _stretches(moments: Sequence[Moment]) -> list[Stretch]:
    stretches, start = [], 0
    for phase, group in groupby(moments, key=lambda moment: moment.phase):
        end = start + sum(1 for _ in group)
        stretches.append(Stretch(start, end, phase))
        start = end
    return stretches


def _bounds(stretches: list[Stretch], number: int) -> tuple[str, int, int]:
    """What to call the step that the stretch of that number belongs to; its first and last."""
    phase = stretches[number].phase
    if phase is Phase.EVAL:
        return "the model is loaded, then the first estimate_loss", number, number
    if phase is Phase.EVAL_LATE:
        return "a later estimate_loss", number, number
    optimizers = [i for i, each in enumerate(stretches) if each.phase is Phase.OPTIMIZER]
    last = next((i for i in optimizers if i >= number), len(stretches) - 1)
    before = [i for i in optimizers if i < number]
    first = before[-1] + 1 if before else 1
    return "the first step" if not before else "a step once training is under way", first, last
