"""The traces of one number of micro-steps: what to run, and what has the same events."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nanolint.trace.traced import lasting_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from nanolint.tape.tape import Tape

    Tracer: TypeAlias = Callable[[int, int], "Point | None"]

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


class Survey:
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

    def look_near(self, own: int, more: int) -> None:
        """Trace around ``own`` until three neighbours have the same events: the one between is held
        out. It may take ``more`` traces than all else."""
        most, spent = self._most, self._spent
        self._most = spent + more
        for low, high in ((own, own + max(2, own // 2)), (own - max(2, own // 4), own)):
            self.look(batch for batch in (low, high) if batch > 0)
            while low in self.points and high in self.points and self._left():
                place = self._between(low, high)
                if place is None:
                    self._most = most + self._spent - spent
                    return
                self._at(place)
        self._most = most + self._spent - spent

    def _between(self, low: int, high: int) -> int | None:
        """Where to look next for three of the same events; None where they are found, or cannot."""
        points = sorted(batch for batch in self.points if low <= batch <= high)
        numbers = [self._numbers[batch] for batch in points]
        if any(first == second == third for first, second, third in _triples(numbers)):
            return None
        wide = [pair for pair in pairwise(points) if pair[1] - pair[0] > 1]
        wide.sort(key=lambda pair: self._numbers[pair[0]] != self._numbers[pair[1]])
        places = (sum(pair) // 2 for pair in wide)
        return next((place for place in places if place not in self._refused), None)

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

    @property
    def complete(self) -> bool:
        return not self._gaps()

    @property
    def _spent(self) -> int:
        return len(self.points) + len(self._refused)

    def _left(self) -> bool:
        return self._spent < self._most

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


def _triples(numbers: Sequence[int]) -> Iterable[tuple[int, int, int]]:
    return zip(numbers, numbers[1:], numbers[2:], strict=False)
