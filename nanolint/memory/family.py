"""Runs that differ in whole numbers alone: what was read for one micro-batch holds for others.

The second of them that is asked for is read with symbolic numbers (``symbolic.py``) for those that
it differs in: the sizes on its tape are formulas of them, and what they decided are guards. Another
run whose guards all hold is worked out from that in a few milliseconds, once one such tape was the
same as a reading of it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from nanolint.memory.located import Located
from nanolint.memory.settled import BATCH
from nanolint.memory.symbolic import CLOSES, Formulas, NotSymbolic, Symbolic, filled
from nanolint.memory.tape import Step, Tape
from nanolint.memory.tensors.asked import Asked
from nanolint.memory.tensors.sized import forget_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.memory.tensors.asked import Card

# What is compiled is decided by many more comparisons: fewer runs share its readings.
COMPILED_FIRST = 4

MOST_READINGS = 16  # with formulas that are remembered, of all families, of other guards each
MOST_OTHERS = 2  # tapes that were worked out of one of late, or cannot be
MOST_READ = 8  # tapes of it that these are held to

Numbers: TypeAlias = tuple[int, ...]  # a run's values of ``SYMBOLIC``, and those its texts name


class Read(NamedTuple):
    """A tape that was read, and what for."""

    card: Card
    numbers: Numbers
    tape: Tape


class Reading:
    """A tape with formulas on it, and for which other numbers it was found to be right."""

    def __init__(
        self,
        asked: Asked,
        formulas: Formulas,
        numbers: Numbers,
        varying: frozenset[int],
        tape: Tape,
    ) -> None:
        self._varying = varying  # the places of those that are symbolic
        self._asked, self._formulas, self._tape = asked, formulas, tape
        self._names = tuple(dict.fromkeys(tape.names))
        self._own = numbers
        self._held: set[int] = set()  # which of them another tape has shown to be followed
        self._others = lru_cache(maxsize=MOST_OTHERS)(self._worked_out)
        formulas.close()
        told = (*tape.doubts, *tape.above, *tape.assumed)
        if any(CLOSES in each for each in told):
            raise NotSymbolic("what is told about the tape has a number of the run in it")

    def knows(self, numbers: Numbers) -> bool:
        """Whether it was right for others that differ from its own in as much."""
        return self._held.issuperset(_differences(self._own, numbers))

    def hold(self, read: Read) -> bool:
        """Compare it with a tape that was read; returns whether it says the same, where it says
        anything."""
        tape = self.tape(read.card, read.numbers)
        if tape is not None:
            if not _are_alike(tape, read.tape):
                return False
            self._held |= _differences(self._own, read.numbers)
        return True

    def tape(self, card: Card, numbers: Numbers) -> Tape | None:
        """What it is for other numbers, or another card; None where a guard does not hold."""
        return self._others(card, numbers)

    def _worked_out(self, card: Card, numbers: Numbers) -> Tape | None:
        if not self._varying.issuperset(_differences(self._own, numbers)):
            return None
        if not self._asked.answers_alike(card):
            return None
        values = self._formulas.values(card, *numbers)
        return None if values is None else self._filled(values)

    def _filled(self, values: Sequence[int]) -> Tape:
        def value(number: Any) -> Any:
            return values[number.place] if type(number) is Symbolic else number

        written, tape = self._tape, type(self._tape)()
        names = {each: filled(each, values) for each in self._names}
        tape.events, tape.phases = written.events, written.phases
        tape.components = written.components
        tape.doubts, tape.above, tape.assumed = written.doubts, written.above, written.assumed
        tape.printed = [filled(each, values) for each in written.printed]
        tape.trained = list(map(value, written.trained))
        tape.sizes = list(map(value, written.sizes))
        tape.names = [names[each] for each in written.names]
        tape.flops = {kind: value(flops) for kind, flops in written.flops.items()}
        tape.steps = [
            Step(
                tuple((kind, value(flops)) for kind, flops in step.flops),
                None if step.tokens is None else value(step.tokens),
            )
            for step in written.steps
        ]
        if isinstance(tape, Located) and isinstance(written, Located):
            tape.wheres = written.wheres
        return tape


class Family:
    """What was read of such runs."""

    def __init__(self, first: int) -> None:
        self._first = first  # so many are read with plain numbers
        self._read: list[Read] = []
        self._is_plain = False  # what was read with symbolic numbers was wrong
        self._plain: set[frozenset[int]] = set()  # the places of those that cannot be symbolic

    @property
    def readings(self) -> list[Reading]:
        """Its readings; what was of use lately comes first, since the next is likely its, too."""
        return [each for each, family in reversed(_lately.items()) if family is self]

    def _uses(self, reading: Reading) -> None:
        """Remember it above all others, and forget what was of no use for the longest time."""
        _lately.pop(reading, None)
        _lately[reading] = self
        while len(_lately) > MOST_READINGS:
            del _lately[next(iter(_lately))]

    def find(self, card: Card, numbers: Numbers) -> Tape | None:
        """The tape of a run, from the reading of another one."""
        for reading in self.readings:
            if reading.knows(numbers):
                tape = reading.tape(card, numbers)
                if tape is not None:
                    self._uses(reading)
                    return tape
        return None

    def read(
        self, card: Card, numbers: Numbers, write: Callable[[Tape, Asked], None]
    ) -> Tape | None:
        """The tape that ``write`` writes with symbolic numbers, which others may share; None where
        it is to be read with plain ones: the first, and where nothing else helps."""
        varying = self._varying(numbers)
        if self._is_plain or not varying:
            return None
        if any(reading.tape(card, numbers) for reading in self.readings):
            return None  # it shows whether that one is right
        fixed = [1 + at for at in range(len(numbers)) if at not in varying]
        formulas = Formulas(card, *numbers, fixed=fixed)
        asked, tape = Asked(card, formulas), Located()
        forget_sizes()
        try:
            write(tape, asked)
            reading = Reading(asked, formulas, numbers, varying, tape)
            found = reading.tape(card, numbers)
        except Exception:  # whatever it is, plain numbers tell
            self._plain.add(varying)
            return None
        finally:
            forget_sizes()
        self._is_plain = found is None or not all(map(reading.hold, self._read))
        if found is None or self._is_plain:
            return None
        self._uses(reading)
        self._read.append(Read(card, numbers, found))
        del self._read[:-MOST_READ]
        return found

    def _varying(self, numbers: Numbers) -> frozenset[int]:
        """The places of the numbers to read with symbolic ones: in which those that were read
        differ, or else in which the nearest of them does; none where plain ones are to be read."""
        found = [_differences(each.numbers, numbers) for each in self._read]
        different = [each for each in found if each]
        if not different:
            return frozenset()
        nearest = min(different, key=len)
        first = self._first if nearest & BATCH else 1
        if len({each.numbers for each in self._read} - {numbers}) < first:
            return frozenset()
        tried = (frozenset[int]().union(*different), nearest)
        return next((each for each in tried if each not in self._plain), frozenset())

    def add(self, card: Card, numbers: Numbers, tape: Tape) -> None:
        """Remember what was read with plain numbers, and hold to it what was said of it."""
        read = Read(card, numbers, tape)
        self._is_plain = self._is_plain or not all(each.hold(read) for each in self.readings)
        if self._is_plain:
            for each in self.readings:
                del _lately[each]
        self._read.append(read)
        del self._read[:-MOST_READ]


_lately: dict[Reading, Family] = {}  # what was of use last comes last


def _differences(one: Numbers, other: Numbers) -> frozenset[int]:
    pairs = enumerate(zip(one, other, strict=True))
    return frozenset(at for at, (own, its) in pairs if own != its)


def _are_alike(one: Tape, other: Tape) -> bool:
    columns = ("events", "sizes", "names", "components", "phases", "steps", "flops", "doubts")
    return all(getattr(one, each) == getattr(other, each) for each in (*columns, "assumed"))


@lru_cache(maxsize=16)
def family_of(_recipe: tuple[object, ...], *, compiled: bool) -> Family:
    """The family of a run, by all that its members have in common."""
    return Family(COMPILED_FIRST if compiled else 1)
