"""Traces at a few micro-batches, fitted to a tape for all those between them.

Between thresholds (a kernel that is chosen by size, a branch of the script) the events are the same
and only sizes change, as polynomials of the micro-batch of degree 2 at most. The thresholds are
found by bisection. What is fitted is compared with micro-batches that were traced for that alone.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from nanolint.frozen import dataclass
from nanolint.memory.allocator.play import play
from nanolint.memory.profile import tape_of
from nanolint.memory.recording import allocated_peak
from nanolint.run.profile import HeldOut, Kind, Regime
from nanolint.run.profile_file import LONGEST_TEXT
from nanolint.trace.polynomial import polynomial
from nanolint.trace.traced import lasting_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from nanolint.memory.tape import Tape

    Tracer: TypeAlias = Callable[[int, int], "Point | None"]

MOST_TRACES = 60
FITTED = 3  # micro-batches of a regime: lowest, middle, highest


class Point(NamedTuple):
    """One trace: the micro-batch, the micro-steps, the tape, what each allocation requested."""

    batch_size: int
    micro_steps: int
    tape: Tape
    requests: Sequence[int]

    @property
    def events(self) -> tuple[int, ...]:
        """Those of the tape, with releases that follow on each other youngest first.

        Their order changes nothing: free neighbours are one block whatever was freed first. It is
        that of addresses in the host's memory where torch lets go of a table of tensors.
        """
        marks = {at for at, _ in self.tape.phases}
        found, released = list[int](), list[int]()
        for number, event in enumerate(self.tape.events):
            if released and (event >= 0 or number in marks):
                found += sorted(released)
                released.clear()
            (released if event < 0 else found).append(event)
        return (*found, *sorted(released))

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the allocations, as far as they do not depend on the micro-batch."""
        lasting = {name: lasting_name(name) for name in dict.fromkeys(self.tape.names)}
        return tuple(lasting[name] for name in self.tape.names)

    @property
    def structure(self) -> tuple[object, ...]:
        """All but the sizes."""
        tape = self.tape
        return self.events, self.names, tuple(tape.components), tuple(tape.phases)


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
    enough for all, the preferred come before the lowest and the highest, and each with the number
    of micro-steps that it is preferred with before any with another.
    """
    surveys, thresholds = list[_Survey](), list[int]()
    needs = [len(_between(preferred, batches) | set(batches)) for batches in wanted.values()]
    scarce = most < sum(needs)
    if scarce:
        needs = [sum(each == steps for each in preferred.values()) for steps in wanted]
    for number, (steps, batches) in enumerate(wanted.items()):
        left = most - sum(len(each.points) for each in surveys)
        own = max(left - sum(needs[number + 1 :]), min(left, needs[number]))
        survey = _Survey(trace, steps, own, tuple(preferred))
        asked = sorted(set(batches))
        if scarce:
            kept = _between(preferred, batches)
            survey.look(batch for batch in preferred if preferred[batch] == steps)
            survey.look(batch for batch in preferred if batch in kept)
        survey.look(asked)
        survey.look(batch for batch in thresholds if asked[0] < batch < asked[-1])
        survey.resolve()
        survey.hold_out()
        thresholds = thresholds or survey.anchors()
        surveys.append(survey)
    kinds: dict[Kind, int] = {}
    regimes, held_out, worst = list[Regime](), list[HeldOut](), Fraction(0)
    for survey in surveys:
        for points in survey.groups():
            chosen = _chosen(points)
            regime = _regime(chosen, points, kinds)
            regimes.append(regime)
            for point in points:
                if point not in chosen:
                    found, error = _compared(regime, tuple(kinds), point)
                    held_out.append(found)
                    worst = max(worst, error)
    per_mille = -(-worst.numerator * 1000 // worst.denominator)
    complete = all(survey.complete for survey in surveys)
    return Fitted(tuple(kinds), tuple(regimes), tuple(held_out), per_mille, complete)


def _between(preferred: Iterable[int], batches: Iterable[int]) -> set[int]:
    low, *_, high = sorted([*batches] * 2)
    return {each for each in preferred if low <= each <= high}


class _Survey:
    """The traces of one number of micro-steps."""

    def __init__(
        self, trace: Tracer, micro_steps: int, most: int, preferred: Sequence[int]
    ) -> None:
        self._trace, self._micro_steps, self._most = trace, micro_steps, most
        self._preferred = preferred
        self.points: dict[int, Point] = {}
        self._numbers: dict[int, int] = {}  # of each micro-batch's structure
        self._structures: dict[tuple[object, ...], int] = {}
        self._refused: set[int] = set()

    def look(self, batches: Iterable[int]) -> None:
        for batch in batches:
            self._at(batch)

    def resolve(self) -> None:
        """Trace what is preferred between neighbours that differ, then bisect the widest gap."""
        while self._left():
            gaps = self._gaps()
            inside = (
                batch
                for batch in self._preferred
                if batch not in self._refused and any(low < batch < high for low, high in gaps)
            )
            wide = max(gaps, key=lambda gap: gap[1] - gap[0], default=None)
            place = next(inside, sum(wide) // 2 if wide is not None else None)
            if place is None or place in self._refused:
                return
            self._at(place)

    def hold_out(self) -> None:
        """Trace micro-batches inside each regime that is wide enough; they may divide it."""
        tried = set[int]()
        while self._left():
            wanted = (place for points in self.groups() for place in _places(points))
            place = next(
                (each for each in wanted if each not in self.points | dict.fromkeys(tried)), None
            )
            if place is None:
                return
            tried.add(place)
            self._at(place)
            self.resolve()

    def groups(self) -> list[list[Point]]:
        """Neighbours that have the same structure."""
        groups: list[list[Point]] = []
        last = None
        for batch in sorted(self.points):
            number = self._numbers[batch]
            if number != last:
                groups.append([])
            groups[-1].append(self.points[batch])
            last = number
        return groups

    def anchors(self) -> list[int]:
        """The micro-batches that the others' regimes are fitted on."""
        return sorted({point.batch_size for points in self.groups() for point in _chosen(points)})

    @property
    def complete(self) -> bool:
        return not self._gaps()

    def _left(self) -> bool:
        return len(self.points) + len(self._refused) < self._most

    def _gaps(self) -> list[tuple[int, int]]:
        batches = sorted(self.points)
        return [
            (low, high)
            for low, high in pairwise(batches)
            if high - low > 1 and self._numbers[low] != self._numbers[high]
        ]

    def _at(self, batch: int) -> None:
        if batch in self.points or batch in self._refused or not self._left():
            return
        point = self._trace(batch, self._micro_steps)
        if point is None:
            self._refused.add(batch)
            return
        self.points[batch] = point
        number = self._structures.setdefault(point.structure, len(self._structures))
        self._numbers[batch] = number


def _places(points: Sequence[Point]) -> list[int]:
    """The middle of a regime, and one that is held out: a place between the middle and its end."""
    low, high = points[0].batch_size, points[-1].batch_size
    if high - low < FITTED - 1 or len(points) > FITTED:
        return []
    middle = (low + high) // 2
    return [middle, (middle + high) // 2] if len(points) < FITTED else [(low + middle) // 2 + 1]


def _chosen(points: Sequence[Point]) -> list[Point]:
    """The lowest, the one nearest to the middle, the highest."""
    if len(points) <= FITTED:
        return list(points)
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
