"""Reuses one symbolic reading for every run that differs only in integers (micro-batch, steps).

The second of them that is asked for is read with symbolic numbers (``symbolic.py``) for those that
it differs in: the sizes on its tape are formulas of them, and what they decided are guards. Another
run whose guards all hold is worked out from that in a few milliseconds, once one such tape was the
same as a reading of it. Numbers that count steps are symbolic in each, which costs nothing; that
these are followed is shown once for all runs of a script. What stands at several places of a tape
is filled once.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from nanolint.script.settled import BATCH, MICRO_BATCH
from nanolint.tape.lasting import hold_newest
from nanolint.tape.located import Located
from nanolint.tape.numbers import Counts, of_any_kind, script_of
from nanolint.tape.symbolic import CLOSES, Formulas, NotSymbolic, Symbolic, filled
from nanolint.tape.tape import Step
from nanolint.tensors.device import Asked
from nanolint.tensors.layout import forget_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nanolint.run.program import SourceText
    from nanolint.tape.tape import Tape
    from nanolint.tensors.device import Card

# What is compiled is decided by many more comparisons of the micro-batch: fewer share its readings,
# and so many are read with a plain one.
COMPILED_FIRST = 4

# What is remembered: families, and readings with formulas of all of them, as many for other
# micro-batches and for one. A command seldom comes back to one, and a worker would hold 700 MB of
# a thousand configs; who types goes back to what was read before a hundred others were.
FEW, MANY = (16, 16), (64, 128)
most_families, most_readings = FEW

MOST_OTHERS = 2  # tapes that were worked out of one of late, or cannot be
MOST_READ = 8  # tapes of it that these are held to

Numbers: TypeAlias = tuple[int, ...]  # a run's values of ``SYMBOLIC``, and those its texts name


class Read(NamedTuple):
    """A tape that was read, and what for."""

    card: Card
    numbers: Numbers
    tape: Tape


class WorkedOut(NamedTuple):
    """A tape, with what tells it from others of the reading that it was worked out of."""

    tape: Tape
    content: bytes
    reading: SymbolicReading


class SymbolicReading:
    """A tape with formulas on it, and for which other numbers it was found to be right."""

    def __init__(
        self,
        asked: Asked,
        formulas: Formulas,
        numbers: Numbers,
        varying: frozenset[int],
        tape: Tape,
        counts: Counts,
    ) -> None:
        self._varying = varying  # the places of those that are symbolic
        self._counts = counts
        self._asked, self._formulas, self._template = asked, formulas, TapeTemplate(tape)
        self._own = numbers
        self._held = frozenset[int]()  # which of them another tape has shown to be followed
        self._others: dict[tuple[Card, Numbers], FilledTape | None] = {}
        formulas.close()
        told = (*tape.doubts, *tape.above, *tape.assumed)
        if any(CLOSES in each for each in told):
            raise NotSymbolic("what is told about the tape has a number of the run in it")

    @property
    def follows_batch(self) -> bool:
        """Whether it is right for other micro-batches."""
        return bool(self._varying & BATCH)

    def knows(self, numbers: Numbers) -> bool:
        """Whether it was right for others that differ from its own in as much."""
        return self._held | self._counts.shown >= _differences(self._own, numbers)

    def hold(self, read: Read) -> bool:
        """Compare it with a tape that was read; returns whether it says the same, where it says
        anything."""
        tape = self.tape(read.card, read.numbers)
        if tape is not None:
            if not _are_alike(tape, read.tape):
                return False
            self._held |= _differences(self._own, read.numbers)
            self._counts.show(self._held)
        return True

    def tape(self, card: Card, numbers: Numbers) -> Tape | None:
        """What it is for other numbers, or another card; None where a guard does not hold."""
        found = self.filled(card, numbers)
        return found and found.tape

    def filled(self, card: Card, numbers: Numbers) -> FilledTape | None:
        """That tape, with what tells it from others of this reading."""
        asked = card, numbers
        if asked not in self._others:
            while len(self._others) >= MOST_OTHERS:
                del self._others[next(iter(self._others))]
            self._others[asked] = self._worked_out(card, numbers)
        return self._others[asked]

    def is_alike(self, numbers: Numbers, card: Card, other: Card) -> bool:
        """Whether its tape for these numbers is the same on two cards, the first of which has one:
        the same comes of all that either is asked."""
        if not self._asked.answers_alike(other):
            return False
        own, its = (self._formulas.values(each, *numbers) for each in (card, other))
        return own is not None and its is not None and own[1:] == its[1:]  # behind the card itself

    def _worked_out(self, card: Card, numbers: Numbers) -> FilledTape | None:
        if not self._varying.issuperset(_differences(self._own, numbers)):
            return None
        if not self._asked.answers_alike(card):
            return None
        values = self._formulas.values(card, *numbers)
        return None if values is None else self._template.filled(values)


class SymbolicCache:
    """What was read of such runs."""

    def __init__(self, counts: Counts, *, compiled: bool) -> None:
        self._is_compiled = compiled
        self._counts = counts
        self._read: list[Read] = []
        self._is_plain = False  # what was read with symbolic numbers was wrong
        self._plain: set[frozenset[int]] = set()  # the places of those that cannot be symbolic
        # The last run that could not be read so, and the places: maybe it cannot be read at all.
        self._failed: tuple[Numbers, frozenset[int]] | None = None

    @property
    def readings(self) -> list[SymbolicReading]:
        """Its readings; what was of use lately comes first, since the next is likely its, too."""
        return [each for each, family in reversed(_lately.items()) if family is self]

    def _uses(self, reading: SymbolicReading) -> None:
        """Remember it above all others, and forget what was of no use for the longest time.

        Many are read for other micro-batches, and none of these is forgotten for them that is not.
        """
        _lately.pop(reading, None)
        _lately[reading] = self
        alike = [each for each in _lately if each.follows_batch is reading.follows_batch]
        for each in alike[:-most_readings]:
            del _lately[each]

    def find(self, card: Card, numbers: Numbers) -> WorkedOut | None:
        """The tape of a run, from the reading of another one."""
        for reading in self.readings:
            if reading.knows(numbers):
                found = reading.filled(card, numbers)
                if found is not None:
                    self._uses(reading)
                    return WorkedOut(*found, reading)
        return None

    def read(
        self, card: Card, numbers: Numbers, write: Callable[[Tape, Asked], None]
    ) -> WorkedOut | None:
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
            reading = SymbolicReading(asked, formulas, numbers, varying, tape, self._counts)
            found = reading.filled(card, numbers)
        except Exception:  # whatever it is, plain numbers tell
            self._failed = numbers, varying
            return None
        finally:
            forget_sizes()
        self._is_plain = found is None or not all(map(reading.hold, self._read))
        if found is None or self._is_plain:
            return None
        self._uses(reading)
        self._read.append(Read(card, numbers, found.tape))
        del self._read[:-MOST_READ]
        return WorkedOut(*found, reading)

    def _varying(self, numbers: Numbers) -> frozenset[int]:
        """The places of the numbers to read with symbolic ones: in which those that were read
        differ, or else in which the nearest of them does, and those that count; none where plain
        ones are to be read."""
        found = [_differences(each.numbers, numbers) for each in self._read]
        different = [each for each in found if each]
        if found and not different:
            return frozenset()  # it was read, on another card
        counts = frozenset() if self._counts.are_plain else self._counts.places
        tried = [counts]
        if different:
            nearest = min(different, key=len)
            first = COMPILED_FIRST if self._is_compiled and nearest & MICRO_BATCH else 1
            if len({each.numbers for each in self._read} - {numbers}) >= first:
                tried = [counts.union(*different), counts | nearest]
                if self._is_compiled and not nearest & MICRO_BATCH:
                    tried.reverse()  # graphs of plain sizes that were planned are found again
        return next((each for each in tried if each not in self._plain), frozenset())

    def add(self, card: Card, numbers: Numbers, tape: Tape) -> None:
        """Remember what was read with plain numbers, and hold to it what was said of it."""
        if self._failed is not None and self._failed[0] == numbers:
            varying = self._failed[1]  # which only symbolic ones fail for
            self._plain.add(varying)
            if varying == self._counts.places:
                self._counts.fail()
        read = Read(card, numbers, tape)
        self._is_plain = self._is_plain or not all(each.hold(read) for each in self.readings)
        if self._is_plain:
            for each in self.readings:
                del _lately[each]
        self._read.append(read)
        del self._read[:-MOST_READ]


_lately: dict[SymbolicReading, SymbolicCache] = {}  # what was of use last comes last


def _differences(one: Numbers, other: Numbers) -> frozenset[int]:
    pairs = enumerate(zip(one, other, strict=True))
    return frozenset(at for at, (own, its) in pairs if own != its)


def _are_alike(one: Tape, other: Tape) -> bool:
    columns = (
        *("events", "sizes", "names", "components", "phases", "steps", "flops", "trained"),
        *("doubts", "assumed", "stop", "story"),
    )
    return all(getattr(one, each) == getattr(other, each) for each in columns)


def remember_many() -> None:
    """From now on, as for somebody who types."""
    global most_families, most_readings
    most_families, most_readings = MANY


def are_known() -> bool:
    """Whether anything is remembered."""
    return bool(_families)


def family_of(
    recipe: tuple[object, ...],
    counts: frozenset[tuple[int, int]],
    script: tuple[SourceText, ...],
    *,
    compiled: bool,
) -> SymbolicCache:
    """The family of a run, by all that its members have in common. ``counts`` are the places of the
    numbers that count steps, each with its number in the ``script``, whose texts without numbers
    these are."""
    key = recipe, counts, script, compiled
    found = _families.get(key)
    if found is None:
        found = SymbolicCache(
            Counts(dict(counts), script_of(of_any_kind(script))), compiled=compiled
        )
    hold_newest(_families, key, found, most_families)
    return found


_families: dict[object, SymbolicCache] = {}  # what was asked for last comes last


class FilledTape(NamedTuple):
    """A tape, and what tells it from others of the same form."""

    tape: Tape
    content: bytes


class TapeTemplate:
    """A tape with formulas on it."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._sizes, self._names = _Spread(tape.sizes), _Spread(tape.names)

    def filled(self, values: Sequence[int]) -> FilledTape:
        """The tape with the values of all formulas, by their places."""

        def value(number: Any) -> Any:
            return values[number.place] if type(number) is Symbolic else number

        written, tape = self._tape, type(self._tape)()
        sizes = [value(each) for each in self._sizes.once]
        names = [filled(each, values) for each in self._names.once]
        tape.sizes, tape.names = self._sizes.spread(sizes), self._names.spread(names)
        tape.events, tape.phases = written.events, written.phases
        tape.components = written.components
        tape.doubts, tape.above, tape.assumed = written.doubts, written.above, written.assumed
        tape.stop, tape.story = written.stop, written.story
        tape.printed = [filled(each, values) for each in written.printed]
        tape.trained = [value(each) for each in written.trained]
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
        told = repr((sizes, names, tape.printed, tape.trained, tape.flops, tape.steps))
        return FilledTape(tape, blake2b(told.encode("utf-8", "surrogatepass")).digest())


class _Spread:
    """Items of a list, each ``once``, and where they stand."""

    def __init__(self, items: Iterable[Any]) -> None:
        places: dict[object, int] = {}
        self.once: list[Any] = []
        self._places: list[int] = []
        for each in items:
            key = (Symbolic, each.place) if type(each) is Symbolic else each
            if key not in places:
                places[key] = len(self.once)
                self.once.append(each)
            self._places.append(places[key])

    def spread(self, others: Sequence[Any]) -> list[Any]:
        """The list with others in their places."""
        return [others[place] for place in self._places]
