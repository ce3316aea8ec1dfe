"""Numbers of a run that remember how they were worked out, as PyTorch's own symbolic sizes do.

Numbers of a run that remember how they were worked out, as PyTorch's own symbolic sizes do
(torch/fx/experimental/symbolic_shapes.py).

What is read with them is read for many runs at once: sizes are formulas of the micro-batch and the
accumulation, and what a comparison came to is a guard. To CPython such a number is no int. Whoever
takes it for one all the same, as ``range`` does or an index, asks for its value: that it has this
one is a guard, too.

What symbolic numbers are put to without deciding more by them than has to be decided.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

Step: TypeAlias = "tuple[Callable[[Any, Any], Any], int, int]"

FAILURES = (ArithmeticError, TypeError, ValueError, LookupError)
OPENS, CLOSES = "\ue000", "\ue001"  # around the number of a formula in a text


class NotSymbolic(Exception):
    """Something cannot be read with symbolic numbers; it is read with plain ones."""


class Formulas:
    """How the numbers of one reading were worked out of the ``given``, and what was decided by
    them. Each has a place: first the given, then constants and results as they come.

    Of the given those in the places ``fixed`` are the same for whoever shares the reading.
    """

    def __init__(self, *given: Any, fixed: Container[int] = ()) -> None:
        self._fixed = fixed
        self._numbers = [Symbolic(self, place, value) for place, value in enumerate(given)]
        self._steps: list[Step] = []
        self._known: dict[tuple[Any, ...], Symbolic] = {}
        self._constants: dict[tuple[type, Any], Symbolic] = {}
        self._guards: dict[tuple[Any, ...], Any] = {}
        self._answers: list[tuple[Callable[[list[Any]], Any], list[int], Any]] = []
        self._hashed: set[int] = set()
        self._distinct = 0  # values among those

    def given(self, place: int) -> Any:
        """What was given there, which notes what becomes of it; where it is fixed, plain."""
        number = self._numbers[place]
        return number.value if place in self._fixed else number

    def work_out(self, how: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
        """What a function of two numbers comes to, with both in it. Raises what it raises."""
        first = one if type(one) is Symbolic else self._constant(one)
        second = other if type(other) is Symbolic else self._constant(other)
        key = how, first.place, second.place
        known = self._known.get(key)
        if known is None:
            known = self._add(how(first.value, second.value), key)
            self._known[key] = known
        return known

    def decide(self, how: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
        """What a function of two numbers comes to, and has to for whoever shares the reading."""
        first = one if type(one) is Symbolic else self._constant(one)
        second = other if type(other) is Symbolic else self._constant(other)
        key = how, first.place, second.place
        if key not in self._guards:
            self._guards[key] = how(first.value, second.value)
        return self._guards[key]

    def answer(self, question: Callable[[list[Any]], Any], numbers: Sequence[Any]) -> Any:
        """What a question about many numbers comes to, and has to, whatever the way there."""
        places = [
            (each if type(each) is Symbolic else self._constant(each)).place for each in numbers
        ]
        found = question([self._numbers[place].value for place in places])
        self._answers.append((question, places, found))
        return found

    def tuple_of(self, values: Sequence[Any]) -> Any:
        """A tuple of numbers and tuples of them, as one value with all of them in it."""
        found: Any = self._constant(())
        for each in values:
            item = self.tuple_of(each) if type(each) is tuple else each
            found = self.work_out(_with, found, item)
        return found

    def values(self, *given: Any) -> list[Any] | None:
        """The value of each place for other given values; None where a guard does not hold, behind
        which nothing is worked out."""
        found, first = list(given), len(given)
        try:
            for (how, one, other), decided in self._guards.items():
                self._work_out(found, first, max(one, other, first - 1) + 1 - first)
                if how(found[one], found[other]) != decided:
                    return None
            self._work_out(found, first, len(self._steps))
            for question, places, answer in self._answers:
                if question([found[place] for place in places]) != answer:
                    return None
        except FAILURES:
            return None
        return found if self._tells_apart(found) else None

    def _work_out(self, found: list[Any], given: int, steps: int) -> None:
        """What so many steps come to, behind the ``given`` and those that are worked out."""
        for how, one, other in self._steps[len(found) - given : steps]:
            found.append(how(found[one], found[other]))

    def hashed(self, number: Symbolic) -> None:
        """It is looked for in a set or a dictionary: what it is not there, no comparison shows."""
        self._hashed.add(number.place)

    def close(self) -> None:
        """Nothing more is worked out with these numbers: let go of what only that needs."""
        self._distinct = len({self._numbers[place].value for place in self._hashed})
        for each in self._numbers:
            del each.of  # no circle: once nobody needs the formulas they are gone
        self._numbers.clear()
        self._known.clear()
        self._constants.clear()

    def _tells_apart(self, values: Sequence[Any]) -> bool:
        """Whether as many of those that were looked for are the same."""
        return len({values[place] for place in self._hashed}) == self._distinct

    def _constant(self, value: Any) -> Symbolic:
        key = type(value), value
        known = self._constants.get(key)
        if known is None:
            known = self._constants[key] = self._add(value, (lambda _one, _other: value, 0, 0))
        return known

    def _add(self, value: Any, step: Step) -> Symbolic:
        self._steps.append(step)
        self._numbers.append(Symbolic(self, len(self._numbers), value))
        return self._numbers[-1]


class Symbolic:
    """A number, its place among the formulas of a reading, and its value there."""

    __slots__ = ("of", "place", "value")

    def __init__(self, of: Formulas, place: int, value: Any) -> None:
        self.of, self.place, self.value = of, place, value

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # so that it is an int for ``isinstance``
        return type(self.value)

    def known(self) -> Any:
        """The value, for who has to know it."""
        self.of.decide(operator.eq, self, self.value)
        return self.value

    def __repr__(self) -> str:
        return shown(self)  # in the name of a tensor

    def __hash__(self) -> int:
        self.of.hashed(self)
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.of.decide(operator.ne, self, 0))


def is_symbolic(value: Any) -> bool:
    """Whether it is such a number, or a tuple with one in it."""
    kind: type = type(value)
    return kind is Symbolic or (kind is tuple and any(map(is_symbolic, value)))


def plain(value: Any) -> Any:
    """The value, of whatever becomes of it nothing is noted any more."""
    return value.value if type(value) is Symbolic else value


def filled(text: str, values: Sequence[Any]) -> str:
    """A text with numbers for its formulas."""
    first, *parts = text.split(OPENS)
    for part in parts:
        number, _, rest = part.partition(CLOSES)
        place, _, style = number.partition(":")
        first += f"{values[int(place)]:{style}}{rest}"
    return first


def shown(number: Symbolic, style: str = "") -> str:
    """Its formula in a text, for ``filled``."""
    return f"{OPENS}{number.place}:{style}{CLOSES}"


def _with(one: Any, other: Any) -> Any:
    return (*one, other)


def _ceil(one: Any, _other: Any) -> Any:
    return math.ceil(one)


def _floor(one: Any, _other: Any) -> Any:
    return math.floor(one)


def _truncated(one: Any, _other: Any) -> Any:
    return math.trunc(one)


NUMBERS = frozenset({Symbolic, int, float, bool})
LEFT_TO_OTHERS = frozenset({operator.add, operator.sub, operator.mul})  # to one that is watched
TAKES_OVER: set[type] = (
    set()
)  # kinds of numbers that know themselves what to do with a symbolic one


def _works_out(how: Callable[[Any, Any], Any], *, swapped: bool) -> Callable[[Symbolic, Any], Any]:
    def working(self: Symbolic, other: Any) -> Any:
        if type(other) not in NUMBERS:
            is_left = how in LEFT_TO_OTHERS or type(other) in TAKES_OVER
            if is_left or not isinstance(other, float):
                return NotImplemented
            other = float(other)  # a watched one is looked at
        if swapped:
            return self.of.work_out(how, other, self)
        return self.of.work_out(how, self, other)

    return working


def _decides(how: Callable[[Any, Any], Any]) -> Callable[[Symbolic, Any], Any]:
    def deciding(self: Symbolic, other: Any) -> Any:
        if other is self:
            return how(0, 0)
        if type(other) not in NUMBERS:
            if type(other) in TAKES_OVER or not isinstance(other, float):
                return NotImplemented
            other = float(other)
        return self.of.decide(how, self, other)

    return deciding


def _knows(how: Callable[..., Any]) -> Callable[..., Any]:
    def knowing(self: Symbolic, *others: Any) -> Any:
        return how(self.known(), *others)

    return knowing


for _name in ("add", "sub", "mul", "floordiv", "mod", "truediv"):
    _how = getattr(operator, _name)
    setattr(Symbolic, f"__{_name}__", _works_out(_how, swapped=False))
    setattr(Symbolic, f"__r{_name}__", _works_out(_how, swapped=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Symbolic, f"__{_name}__", _decides(getattr(operator, _name)))
for _name, _one in (("ceil", _ceil), ("floor", _floor), ("trunc", _truncated)):
    setattr(Symbolic, f"__{_name}__", lambda self, _one=_one: self.of.work_out(_one, self, 0))
for _name, _how in (
    *(("int", int), ("float", float), ("index", operator.index), ("complex", complex)),
    *(("str", str), ("format", format), ("round", round), ("pow", pow)),
    *(("lshift", operator.lshift), ("rshift", operator.rshift), ("xor", operator.xor)),
    *(("and", operator.and_), ("or", operator.or_), ("invert", operator.invert)),
):
    setattr(Symbolic, f"__{_name}__", _knows(_how))
for _name, _how in (
    *(("rpow", operator.pow), ("rlshift", operator.lshift), ("rrshift", operator.rshift)),
    *(("rand", operator.and_), ("ror", operator.or_), ("rxor", operator.xor)),
):
    setattr(Symbolic, f"__{_name}__", lambda self, other, _how=_how: _how(other, self.known()))
for _name, _made in (
    ("__neg__", lambda self: 0 - self),
    ("__pos__", lambda self: self),
    ("__abs__", lambda self: self if self >= 0 else 0 - self),
    ("__divmod__", lambda self, other: (self // other, self % other)),
    ("__rdivmod__", lambda self, other: (other // self, other % self)),
    ("bit_length", lambda self: self.value.bit_length()),  # asked to refuse what takes long
    ("is_integer", lambda self: self.known().is_integer()),
    ("real", property(lambda self: self)),
    ("imag", property(lambda _: 0)),
    ("numerator", property(lambda self: self)),
    ("denominator", property(lambda _: 1)),
):
    setattr(Symbolic, _name, _made)


Key = TypeVar("Key", bound=tuple[Any, ...])
Found = TypeVar("Found")


class Span:
    """``range(count)`` of a symbolic number."""

    __slots__ = ("count",)

    def __init__(self, count: Any) -> None:
        self.count = count

    def known(self) -> range:
        """The range, for who goes through all of it."""
        return range(self.count)

    def __len__(self) -> int:
        return len(self.known())

    def __getitem__(self, place: Any) -> Any:
        """One of its numbers, which is one of them."""
        return place if place >= 0 else self.count + place


def largest(values: Sequence[Any]) -> Any:
    """The largest, as one formula of all: which of them it is decides nothing."""
    plain_ones = [each for each in values if type(each) is not Symbolic]
    found = max(plain_ones) if plain_ones else None
    for each in values:
        if type(each) is Symbolic:
            found = each if found is None else each.of.work_out(max, found, each)
    return found


def answer(question: Callable[[list[Any]], Found], numbers: list[Any]) -> Found:
    """What ``question`` comes to for ``numbers``: that alone is a guard, not the way there."""
    for each in numbers:
        if type(each) is Symbolic:
            return each.of.answer(question, numbers)  # type: ignore[no-any-return]
    return question(numbers)


def worked_out(function: Callable[..., Any], given: Sequence[Any]) -> Any:
    """What a function of plain numbers comes to: a formula, where one of them is."""
    for each in given:
        if type(each) is Symbolic:
            return each.of.work_out(_Applied(function), each.of.tuple_of(given), 0)
    return function(*given)


def bounds(part: slice, count: Any) -> tuple[Any, Any, Any]:
    """``part.indices(count)``: where a slice begins and ends, and its step."""
    given = (part.start, part.stop, part.step, count)
    if Symbolic not in map(type, given):
        return part.indices(count)
    start, stop = (worked_out(_bound, (*given, at)) for at in range(2))
    return start, stop, 1 if part.step is None else part.step


def _bound(start: Any, stop: Any, step: Any, count: Any, at: int) -> int:
    return slice(start, stop, step).indices(count)[at]


def entry(found: dict[Key, Found], key: Key) -> Found | None:
    """What a dictionary has for a tuple with sizes in it: that it is no other key is a guard."""
    return next((value for other, value in found.items() if other == key), None)


def as_key(value: Any) -> Any:
    """What a program looks for in a dictionary or a set of its own: that it has this value."""
    kind = type(value)
    if kind is Symbolic:
        return value.known()
    if kind in TAKES_OVER:
        return as_key(value.now)
    return tuple(map(as_key, value)) if kind is tuple else value


def of_formulas(of: Formulas, question: Callable[..., Any], about: Any) -> Any:
    """What ``question`` answers of a card about numbers of formulas: a formula again, or a guard.

    The card is the first of what was given.
    """
    how, given = _Applied(question), of.tuple_of((of.given(0), *about))
    found = of.work_out(how, given, 0)
    if type(found.value) is int:
        return found
    if type(found.value) is tuple and all(type(each) is int for each in found.value):
        of.decide(_has_as_many, found, len(found.value))
        return tuple(of.work_out(operator.getitem, found, at) for at in range(len(found.value)))
    return of.decide(how, given, 0)


class _Applied:
    """A function of a tuple of arguments; the same for the same function."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, given: Any, _other: Any) -> Any:
        return self.function(*given)

    def __eq__(self, other: object) -> bool:
        return type(other) is _Applied and other.function is self.function

    def __hash__(self) -> int:
        return hash(self.function)


def _has_as_many(one: Any, other: Any) -> bool:
    return len(one) == other and all(type(each) is int for each in one)
