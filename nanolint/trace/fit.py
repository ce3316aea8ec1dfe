"""Traces at a few micro-batches, fitted to a tape for all those between them.

Between thresholds (a kernel that is chosen by size, a branch of the script) the events are the same
and only sizes change, as polynomials of the micro-batch of degree 2 at most. The thresholds are
found by bisection. What is fitted is compared with micro-batches that were traced for that alone.
"""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.memory.allocator.play import play
from nanolint.memory.profile import tape_of
from nanolint.memory.recording import allocated_peak
from nanolint.run.profile import HeldOut, Kind, Regime
from nanolint.run.profile_file import LONGEST_TEXT
from nanolint.trace.polynomial import polynomial
from nanolint.trace.survey import FITTED, Survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nanolint.memory.tape import Tape
    from nanolint.trace.survey import Point, Tracer

MOST_TRACES = 60
NEAR = 3  # traces around the run's own micro-batch, one of which is held out


@dataclass(frozen=True, slots=True)
class Fitted:
    """What the traces gave. ``complete``: no micro-batch between them is unknown."""

    kinds: tuple[Kind, ...]
    regimes: tuple[Regime, ...]
    held_out: tuple[HeldOut, ...]
    error_per_mille: int
    complete: bool


def fit(
    trace: Tracer,
    wanted: Mapping[int, Iterable[int]],
    most: int = MOST_TRACES,
    preferred: Mapping[int, int] = MappingProxyType({}),
) -> Fitted:
    """Trace until the wanted micro-batches and those between them are known.

    ``wanted`` has the lowest and the highest of them, and maybe others, by the number of
    micro-steps. ``trace(batch_size, micro_steps)`` gives None where the script cannot have that.
    The thresholds are looked for with the first number of micro-steps, and tried with the others.
    Where neighbours differ, the ``preferred`` between them are traced first, in their order, and
    each number of micro-steps leaves the later ones enough traces for theirs. Where there are not
    enough for all, the preferred are traced in their order, each with the number of micro-steps
    that it is preferred with; up to ``NEAR`` go to what is around the first of them, and a line
    through two is held against a third between.
    """
    surveys, thresholds = list[Survey](), list[int]()
    needs = [len(_between(preferred, batches) | set(batches)) for batches in wanted.values()]
    scarce = most < sum(needs)
    near = NEAR if scarce and preferred and most >= 2 * NEAR else 0
    if scarce:
        first = [*preferred.values()][: most - near]
        needs = [first.count(steps) for steps in wanted]
        needs[0] += most - near - len(first)
    for number, (steps, batches) in enumerate(wanted.items()):
        left = most - sum(len(each.points) for each in surveys)
        share = max(left - sum(needs[number + 1 :]), min(left, needs[number]))
        if scarce:
            share = needs[number]
        survey = Survey(trace, steps, share, tuple(preferred))
        asked = sorted(set(batches))
        if scarce:
            kept = _between(preferred, batches)
            survey.look(batch for batch in preferred if preferred[batch] == steps)
            if near and not surveys:
                survey.look_near(next(iter(preferred)), near)
            survey.look(batch for batch in preferred if batch in kept)
        survey.look(asked)
        survey.look(batch for batch in thresholds if asked[0] < batch < asked[-1])
        survey.resolve()
        survey.hold_out()
        thresholds = thresholds or _anchors(survey.groups())
        surveys.append(survey)
    kinds: dict[Kind, int] = {}
    regimes, held_out, worst = list[Regime](), list[HeldOut](), Fraction(0)
    for survey in surveys:
        for points in survey.groups():
            chosen = _chosen(points, fewest=scarce)
            regime = _regime(chosen, points, kinds)
            regimes.append(regime)
            for point in points:
                if point not in chosen:
                    found, error = _compared(regime, tuple(kinds), point)
                    held_out.append(found)
                    worst = max(worst, error)
    per_mille = -(-worst.numerator * 1000 // worst.denominator)
    complete = all(survey.points and survey.complete for survey in surveys)
    return Fitted(tuple(kinds), tuple(regimes), tuple(held_out), per_mille, complete)


def _between(preferred: Iterable[int], batches: Iterable[int]) -> set[int]:
    low, *_, high = sorted([*batches] * 2)
    return {each for each in preferred if low <= each <= high}


def _anchors(groups: Iterable[Sequence[Point]]) -> list[int]:
    """The micro-batches that the others' regimes are fitted on."""
    return sorted({point.batch_size for points in groups for point in _chosen(points)})


def _chosen(points: Sequence[Point], *, fewest: bool = False) -> list[Point]:
    """The lowest, the one nearest to the middle, the highest; of three the ``fewest`` are two."""
    if len(points) <= FITTED:
        return [points[0], points[-1]] if fewest and len(points) == FITTED else list(points)
    first, *inner, last = points
    middle = (first.batch_size + last.batch_size) / 2
    return [first, min(inner, key=lambda point: abs(point.batch_size - middle)), last]


def _regime(chosen: Sequence[Point], points: Sequence[Point], kinds: dict[Kind, int]) -> Regime:
    tape = chosen[0].tape
    batches = [point.batch_size for point in chosen]
    requests = zip(*(point.requests for point in chosen), strict=True)
    polynomials: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
    numbers = []
    for sizes, name, component in zip(requests, chosen[0].names, tape.components, strict=True):
        if sizes not in polynomials:
            polynomials[sizes] = polynomial(batches, sizes)
        kind = Kind(*polynomials[sizes], name[:LONGEST_TEXT], component.value)
        numbers.append(kinds.setdefault(kind, len(kinds)))
    return Regime(
        low=batches[0],
        high=batches[-1],
        micro_steps=points[0].micro_steps,
        traced=tuple(point.batch_size for point in points),
        events=_relative(chosen[0].events, numbers),
        phases=tuple((at, phase.value) for at, phase in tape.phases),
    )


def _relative(events: Sequence[int], kinds: Sequence[int]) -> tuple[int, ...]:
    """As ``Regime.events`` has them: what repeats in a run repeats there, too."""
    alive, found = list[int](), list[int]()
    for event in events:
        if event >= 0:
            alive.append(event)
            found.append(kinds[event])
        else:
            place = len(alive) - 1
            while alive[place] != ~event:
                place -= 1
            found.append(~(len(alive) - 1 - place))
            del alive[place]
    return tuple(found)


def _compared(regime: Regime, kinds: tuple[Kind, ...], point: Point) -> tuple[HeldOut, Fraction]:
    """How far the profile is off for a trace that it was not made from, and by what part."""
    tape = tape_of(regime, kinds, point.batch_size)
    allocated, reserved = (
        (measure(tape), measure(point.tape)) for measure in (allocated_peak, _reserved_peak)
    )
    errors = [Fraction(abs(mine - real), max(1, real)) for mine, real in (allocated, reserved)]
    differences = (mine - real for mine, real in (allocated, reserved))
    return HeldOut(point.batch_size, point.micro_steps, *differences), max(errors)


def _reserved_peak(tape: Tape) -> int:
    return play(tape).peak_reserved_bytes
