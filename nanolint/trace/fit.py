"""Traces at a few micro-batches, fitted to a tape for all those between them.

Between thresholds (a kernel that is chosen by size, a branch of the script) the events are the same
and only sizes change, as polynomials of the micro-batch of degree 2 at most. The thresholds are
found by bisection. What is fitted is compared with micro-batches that were traced for that alone.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.recording.recording import allocated_peak
from nanolint.run.profile import LARGEST_BATCH, HeldOut, Kind, Regime, represented
from nanolint.run.profile_file import LONGEST_TEXT
from nanolint.tape.allocator.play import play
from nanolint.tape.profile import tape_of
from nanolint.tape.tape import ROUNDING
from nanolint.trace.guarded import CannotTrace
from nanolint.trace.survey import FITTED, Survey
from nanolint.trainers.script.modules import find_module, imports, roots_of
from nanolint.verdict.search import divisors_down

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nanolint.run.run import Run
    from nanolint.tape.tape import Tape
    from nanolint.trace.survey import Point, Tracer
    from nanolint.trace.traced import Traced

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
    micro-steps, and ``preferred`` how many micro-steps each of them really makes.
    ``trace(batch_size, micro_steps)`` gives None where the script cannot have that.
    The thresholds are looked for with the first number of micro-steps, and tried with the others.
    Where neighbours differ, the ``preferred`` between them are traced first, in their order, and
    each number of micro-steps leaves the later ones enough traces for theirs. Where there are not
    enough for all, the preferred are traced in their order, each with the number of micro-steps
    that it is preferred with; up to ``NEAR`` go to what is around the first of them, and a line
    through two is held against a third between. Where no three have the same events, a step of as
    many micro-steps as it really has is held against the one that stands for it.
    """
    surveys, thresholds = list[Survey](), list[int]()
    kept = {batch: represented(steps) for batch, steps in preferred.items()}
    needs = [len(_between(kept, batches) | set(batches)) for batches in wanted.values()]
    scarce = most < sum(needs)
    longer = [each for each in preferred.items() if each[1] != kept[each[0]]]
    near = NEAR if scarce and kept and most >= 2 * NEAR else 0
    if scarce:
        spare = most - max(near, bool(longer))
        needs = [[*kept.values()][:spare].count(steps) for steps in wanted]
        needs[0] += max(0, spare - len(kept))
    for number, (steps, batches) in enumerate(wanted.items()):
        left = most - bool(longer) - sum(len(each.points) for each in surveys)
        share = max(left - sum(needs[number + 1 :]), min(left, needs[number]))
        survey = Survey(trace, steps, needs[number] if scarce else share, tuple(kept))
        asked = sorted(set(batches))
        if scarce:
            survey.look(batch for batch in kept if kept[batch] == steps)
            if near and not surveys:
                survey.look_near(next(iter(kept)), near - bool(longer))
            survey.look(batch for batch in kept if batch in _between(kept, batches))
        survey.look(asked)
        survey.look(batch for batch in thresholds if asked[0] < batch < asked[-1])
        survey.resolve()
        survey.hold_out()
        thresholds = thresholds or _anchors(survey.groups())
        surveys.append(survey)
    fitting = _Fitting(fewest=scarce)
    for survey in surveys:
        for points in survey.groups():
            fitting.add(points)
    for batch, steps in longer if not fitting.held_out else ():
        found = fitting.known(batch, kept[batch])
        point = trace(batch, steps) if found is not None else None
        if found is not None and point is not None:
            fitting.hold_out(found, point)
            break
    complete = all(survey.points and survey.complete for survey in surveys)
    return fitting.result(complete=complete)


class _Fitting:
    """Regimes of what was traced, and how far they are off for what they were not made from."""

    def __init__(self, *, fewest: bool) -> None:
        self._fewest = fewest
        self._kinds: dict[Kind, int] = {}
        self._regimes, self.held_out = list[Regime](), list[HeldOut]()
        self._worst = Fraction(0)

    def add(self, points: Sequence[Point]) -> None:
        """A regime through neighbours of the same events; what is between is held against it."""
        chosen = _chosen(points, fewest=self._fewest)
        regime = _regime(chosen, points, self._kinds)
        self._regimes.append(regime)
        for point in points:
            if point not in chosen:
                self.hold_out(regime, point)

    def known(self, batch: int, steps: int) -> Regime | None:
        found = (each for each in self._regimes if each.micro_steps == steps)
        return next((each for each in found if each.low <= batch <= each.high), None)

    def hold_out(self, regime: Regime, point: Point) -> None:
        found, error = _compared(regime, tuple(self._kinds), point)
        self.held_out.append(found)
        self._worst = max(self._worst, error)

    def result(self, *, complete: bool) -> Fitted:
        per_mille = -(-self._worst.numerator * 1000 // self._worst.denominator)
        kinds, regimes, held_out = tuple(self._kinds), tuple(self._regimes), tuple(self.held_out)
        return Fitted(kinds, regimes, held_out, per_mille, complete)


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


def polynomial(batches: Sequence[int], sizes: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """Divisor and coefficients of the polynomial of the least degree through all sizes.

    A line is good enough within a block of the allocator: some kernels round their scratch down.
    """
    if len(set(sizes)) == 1:
        return 1, (sizes[0],)
    ends = _through((batches[0], batches[-1]), (sizes[0], sizes[-1]))
    off = (abs(_value(ends, batch) - size) for batch, size in zip(batches, sizes, strict=True))
    found = ends if max(off) < ROUNDING else _through(batches, sizes)
    divisor = lcm(*(each.denominator for each in found))
    return divisor, tuple(int(each * divisor) for each in found)


def _through(batches: Sequence[int], sizes: Sequence[int]) -> list[Fraction]:
    """Coefficients of the polynomial through two or three points (Newton's differences)."""
    first, second = batches[:2]
    slope = Fraction(sizes[1] - sizes[0], second - first)
    line = [sizes[0] - slope * first, slope]
    if len(batches) == len(line):
        return line
    third = batches[2]
    bend = (sizes[2] - _value(line, third)) / ((third - first) * (third - second))
    return [line[0] + bend * first * second, slope - bend * (first + second), bend]


def _value(coefficients: Sequence[Fraction], batch: int) -> Fraction:
    return sum((each * batch**power for power, each in enumerate(coefficients)), Fraction(0))


ROOM = 4
LARGEST_CARD = 288 << 30  # bytes; a micro-batch beyond it fits nowhere


def wanted_of(run: Run, trace: Tracer, *, few: bool = False) -> dict[int, tuple[int, ...]]:
    """The micro-batches that a profile is to know, by the number of micro-steps, the run's first.

    With the run's own micro-steps, for nobody may change but the micro-batch, from one sequence to
    what the largest card holds, or to the effective batch if that is less, but not to less than
    ``ROOM`` times the run's own. With others the micro-batches that keep the effective batch, and
    those between them. Where there are to be ``few`` traces, none is made for this alone.
    """
    own, steps = run.batch_size, represented(run.micro_steps)
    first = trace(own, steps)
    if first is None:
        raise CannotTrace(f"it cannot be traced with its own micro-batch, {own}")
    kept_ones = kept_by(run).items() if few else ()
    smaller = [(batch, represented(passes)) for batch, passes in kept_ones if batch < own][:1]
    places = (*smaller, (1, steps), (own // 2, steps), (own + 1, steps))
    others = (trace(batch, passes) for batch, passes in places if batch not in (0, own))
    other = next((point for point in others if point is not None), None)
    most = own * max(run.micro_steps, ROOM)
    high = own if other is None else min(most, _largest(first, other), LARGEST_BATCH)
    high = max(own, high)
    kept: dict[int, list[int]] = {}
    for batch, passes in divisors_down(own, run.micro_steps, high):
        if represented(passes) != steps:
            kept.setdefault(represented(passes), []).append(batch)
    least = other.batch_size if other else own
    bounds = {each: (min(batches), max(batches)) for each, batches in sorted(kept.items())}
    return {steps: (least, own, high), **bounds}


def _largest(first: Point, other: Point) -> int:
    """About the micro-batch that the largest card holds, as allocated bytes grow between two."""
    peaks = [allocated_peak(point.tape) for point in (first, other)]
    growth = (peaks[0] - peaks[1]) / (first.batch_size - other.batch_size)
    if growth <= 0:
        return 2 * max(first.batch_size, other.batch_size)
    return int((LARGEST_CARD - peaks[1]) / growth) + other.batch_size


def record(run: Run, trace: Tracer, most: int = MOST_TRACES) -> Fitted:
    """Trace and fit; raises CannotTrace where not even the run's own micro-batch can be traced."""
    kept = kept_by(run)
    return fit(trace, wanted_of(run, trace, few=most <= 2 * len(kept)), most, kept)


def kept_by(run: Run) -> dict[int, int]:
    """The micro-batches that keep the effective batch, from the run's own downward, then upward;
    and how many make a step.

    A compiled run has many regimes, and these are what --fix asks for.
    """
    own = run.batch_size
    kept = divisors_down(own, run.micro_steps, LARGEST_BATCH)
    ordered = sorted(kept, key=lambda each: (each[0] > own, abs(each[0] - own)))
    return dict(ordered)


def files_of(traced: Traced, root: Path, script: Path) -> list[Path]:
    """The files of the project that the run depends on, all beneath ``root``.

    Those that were imported or read, and those that they name in an import: one may have been stood
    in for, or be imported by a later step only.
    """
    written, real = set(traced.written), root.resolve()
    names = {*traced.modules, *traced.opened} - written
    inside = {path.relative_to(real) for path in map(Path, names) if real in path.parents}
    found = {script, *(root / path for path in inside if (root / path).is_file())}
    roots, waiting = roots_of(script), sorted(found)
    while waiting:
        path = waiting.pop()
        named = (find_module(name, roots, path) for name in imports(path))
        new = {each for each in named if each is not None and root in each.parents} - found
        found |= new
        waiting += sorted(new)
    return sorted(found)
