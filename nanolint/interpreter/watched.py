"""Numbers that note what their value decides, and numbers that stand for what only a run knows.

A rate is handed on, multiplied and put into the groups of an optimizer, and nobody looks at it.
Whoever does look asks the reading's ``Asked`` about it, so that a program with another number there
has the same tape if the answers are the same. Only fractions are watched: none is a size, an
index or a count, which CPython takes from a whole number without asking its class.

Of a whole number that only a run tells the difference to others may be known. Some numbers stand
for others: the tokens of a file, an object's id. Memory does not follow those, or the run is in
doubt. What is worked out of one is made up, too, and is not told to people. They are known by their
values, as they are plain numbers wherever they go:
another number of the same value is taken for one, and then is not told either.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

from nanolint.interpreter.values import Unknown
from nanolint.tape.symbolic import Symbolic
from nanolint.tape.symbolic import plain as unnoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nanolint.interpreter.values import Place, Value
    from nanolint.tensors.device import Asked, Card
    from nanolint.tensors.tensor import Rows


MOST_SYMBOLS = 16
DEPTH = 4  # of lists in lists that a function is given


def number(card: Card, place: int) -> str:
    """All that there is to a number: 0.0 and -0.0 are equal."""
    return repr(card.numbers[place])


def compared(card: Card, place: int, how: Callable[[Any, Any], Any], other: float) -> Any:
    """Returns the result of a comparison of a number."""
    return how(card.numbers[place], other)


class Watched(float):
    """A number of the program, or what was worked out of some: ``places`` are theirs, and
    ``symbols`` are symbolic numbers that it was worked out of, too."""

    __slots__ = ("_asked", "_is_given", "_places", "_symbols")

    _asked: Asked
    _is_given: bool
    _places: frozenset[int]
    _symbols: tuple[Symbolic, ...]

    def seen(self) -> float:
        """The number, for who looks at it."""
        for each in self._places:
            self._asked.ask(number, each)
        for symbol in self._symbols:
            symbol.known()
        return float.__pos__(self)

    def among(self, numbers: Sequence[float]) -> float:
        """The number of a program that has these in their places; what was worked out is seen.
        Without any its own, for who tells nothing of it."""
        if not numbers:
            return float.__pos__(self)
        if not self._is_given:
            return self.seen()
        (place,) = self._places
        return numbers[place]


def given(asked: Asked, place: int) -> Watched:
    """The number of a program that has this place in ``Card.numbers``, for one reading."""
    return _made(asked.number(place), asked, frozenset({place}), is_given=True)


def plain(value: Value) -> Value:
    """Returns the plain value and notes that it was looked at: for code that goes by its exact
    type."""
    return value.seen() if isinstance(value, Watched) else value


def look(values: Iterable[Value], depth: int = DEPTH) -> None:
    """Note that a function of Python's own looks at all of this."""
    for each in values:
        kind = type(each)
        if kind is Watched:
            each.seen()
        elif depth and (kind is list or kind is tuple):
            look(each, depth - 1)
        elif depth and kind is dict:
            look(each.values(), depth - 1)


LOOKED_INTO = frozenset({Watched, list, tuple, dict})


def _made(
    value: float,
    asked: Asked,
    places: frozenset[int],
    symbols: tuple[Symbolic, ...] = (),
    *,
    is_given: bool,
) -> Watched:
    made = Watched(value)
    made._asked, made._places, made._is_given = asked, places, is_given
    made._symbols = symbols
    return made


def _looks(name: str) -> Callable[..., Any]:
    """What asks for the number itself: a text, a whole number, a hash."""
    method = getattr(float, name)

    def looking(self: Watched, *others: Any) -> Any:
        return method(self.seen(), *map(plain, others))

    return looking


def _works_out(name: str) -> Callable[..., Any]:
    """Arithmetic, whose result is watched as what it was worked out of is."""
    method = getattr(float, name)

    def working(self: Watched, *others: Any) -> Any:
        if name == "__truediv__":
            look(others)  # by zero it fails
            all(others)
        found = method(self, *map(unnoted, others))
        if type(found) is not float:
            self.seen()  # nothing that floats can: what is worked out is not a number
            return found
        places, symbols = self._places, self._symbols
        for each in others:
            if type(each) is Watched:
                places |= each._places
                symbols += each._symbols
            elif type(each) is Symbolic:
                symbols = (*symbols, each)
        while len(symbols) > MOST_SYMBOLS:  # of a number that each turn of a loop changes
            symbols[0].known()
            symbols = symbols[1:]
        return _made(found, self._asked, places, symbols, is_given=False)

    return working


def _compares(name: str) -> Callable[[Watched, Any], Any]:
    method, how = getattr(float, name), getattr(operator, name)

    def comparing(self: Watched, other: Any) -> Any:
        if self._is_given and type(other) in (int, float):
            (place,) = self._places
            return self._asked.ask(compared, place, how, other)
        return method(self.seen(), plain(other))

    return comparing


_LOOKING = (
    *("__int__", "__float__", "__trunc__", "__floor__", "__ceil__", "__round__", "__hash__"),
    *("__repr__", "__format__", "is_integer", "as_integer_ratio", "hex", "conjugate"),
    *("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__divmod__", "__rdivmod__"),
    *("__pow__", "__rpow__", "__rtruediv__", "__reduce_ex__", "__getnewargs__"),
)
_WORKING = (
    *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__"),
    *("__neg__", "__pos__", "__abs__"),
)
for _name in _LOOKING:
    setattr(Watched, _name, _looks(_name))
for _name in _WORKING:
    setattr(Watched, _name, _works_out(_name))
for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Watched, _name, _compares(_name))
for _name, _member in (
    ("__bool__", lambda self: self != 0.0),
    ("real", property(Watched.seen)),
    ("imag", property(lambda _: 0.0)),
):
    setattr(Watched, _name, _member)


class Index(Unknown):
    """``scale`` times a whole number that only a run tells, and ``shift`` more.

    Of the same ``origin`` and ``scale`` the difference is known: ``data[i : i + 8]`` has eight
    elements, whatever ``i`` is, and so has ``data[i * 8 : (i + 1) * 8]``.
    """

    __slots__ = ("origin", "scale", "shift")

    def __init__(
        self, reason: str, place: Place, origin: object, shift: int = 0, scale: int = 1
    ) -> None:
        super().__init__(reason, place)
        self.origin = origin
        self.shift = shift
        self.scale = scale

    def shifted(self, by: int) -> Index:
        """The number, and ``by`` more."""
        return Index(self.reason, self.place, self.origin, self.shift + by, self.scale)

    def scaled(self, by: int) -> Index:
        """``by`` times the number."""
        return Index(self.reason, self.place, self.origin, self.shift * by, self.scale * by)


class Real(Unknown):
    """A number with a point, as Python has it, that only a run tells.

    What a tensor is multiplied with, or the like, decides no memory: ``ANY`` may stand for it.
    ``is_square``: it is below no zero, as squares and their sums are.
    """

    __slots__ = ("is_square",)

    def __init__(self, reason: str, place: Place, *, is_square: bool = False) -> None:
        super().__init__(reason, place)
        self.is_square = is_square


class Size(Unknown):
    """A size that only a run tells: ``value`` stands for it if memory follows from it, which
    ``assumed`` says."""

    __slots__ = ("assumed", "value")

    def __init__(self, of: Unknown, value: int, assumed: str) -> None:
        super().__init__(of.reason, of.place)
        self.value = value
        self.assumed = assumed


ANY = 1.5


def worked_out(op: ast.operator, left: Value, right: Value) -> Real | None:
    """``left op right`` of two numbers of which at least one is not known; None if that may be an
    integer."""
    if not (_is_number(left) and _is_number(right)):
        return None
    why = next(each for each in (left, right) if isinstance(each, Unknown))
    if isinstance(op, ast.Pow):
        if not isinstance(left, Real) or (right != 2 and not (right == 0.5 and left.is_square)):
            return None  # it may be complex
        return Real(why.reason, why.place, is_square=True)
    if not isinstance(op, ast.Div) and not any(
        isinstance(each, (Real, float)) for each in (left, right)
    ):
        return None
    is_sum = isinstance(op, ast.Add) and _is_square(left) and _is_square(right)
    return Real(why.reason, why.place, is_square=is_sum)


def _is_square(value: Value) -> bool:
    """Whether a number is below no zero."""
    return (
        value.is_square
        if isinstance(value, Real)
        else isinstance(value, (int, float)) and value >= 0
    )


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float, Index, Real))


class Window(Unknown):
    """``i : i + length`` with an unknown ``i``, within a tensor that is long enough."""

    __slots__ = ("length",)

    def __init__(self, reason: str, place: Place, length: int) -> None:
        super().__init__(reason, place)
        self.length = length


def window(start: Value, stop: Value, step: Value) -> Window | None:
    """``start:stop``, if it has a known length although neither is known."""
    if step is not None or not isinstance(start, Index) or not isinstance(stop, Index):
        return None
    if start.origin is not stop.origin or start.scale != stop.scale or stop.shift < start.shift:
        return None
    return Window(start.reason, start.place, stop.shift - start.shift)


class Draws(Iterator[Index]):
    """Numbers that nobody knows, ``left`` of them."""

    def __init__(self, count: int, why: str, place: Place) -> None:
        self.left = count
        self._of = why, place

    def __next__(self) -> Index:
        if not self.left:
            raise StopIteration
        self.left -= 1
        return Index(*self._of, origin=object())

    def skip(self) -> int:
        """Leave out those that are like the last one: all that are left, and how many they are."""
        left, self.left = self.left, 0
        return left


class Repeated(Iterator["Value"]):
    """The values of a list, in which one may stand many times in a row."""

    def __init__(self, values: list[Value]) -> None:
        self._values = values
        self._next = 0

    def __next__(self) -> Value:
        if self._next >= len(self._values):
            raise StopIteration
        self._next += 1
        return self._values[self._next - 1]

    def skip(self) -> int:
        """Leaves out those after the last one that are the same value, and notes how many they
        are."""
        start, last = self._next, self._values[self._next - 1]
        while self._next < len(self._values) and self._values[self._next] is last:
            self._next += 1
        return self._next - start


class Copies(Iterator["Value"]):
    """The tensors of ``Rows``."""

    def __init__(self, rows: Rows) -> None:
        self._row, self._left = rows.row, rows.count

    def __next__(self) -> Value:
        if not self._left:
            raise StopIteration
        self._left -= 1
        return self._row

    def skip(self) -> int:
        """Leave out all that are left, and how many they are."""
        left, self._left = self._left, 0
        return left


FEW = 1000  # from which on a whole number is hardly another's


class MadeUp:
    """``numbers`` are their values. ``is_lost``: one of them came to a number that many are; no
    number is sure from there on."""

    def __init__(self) -> None:
        self.numbers = set[int | float]()
        self.is_lost = False
        self.of_file = False  # an array, too: its type and its dimensions
        self.compared = 0  # how often one was

    @property
    def known(self) -> tuple[frozenset[int | float], bool]:
        """Which numbers are made up, and whether that is lost."""
        return frozenset(self.numbers), self.is_lost

    @known.setter
    def known(self, known: tuple[frozenset[int | float], bool]) -> None:
        self.numbers, self.is_lost = self.numbers | known[0], known[1]

    def compare(self, one: Value, other: Value) -> None:
        """Two values are compared."""
        self.compared += self.has(one) or self.has(other)

    def lose(self) -> None:
        """Nothing is told from here on, or is sure."""
        self.is_lost = True
        self.numbers.clear()

    def add(self, number: Value) -> None:
        """This stands for another number."""
        if type(number) is int and abs(number) < FEW:
            self.lose()
        elif (type(number) is int or type(number) is float) and not self.is_lost:
            self.numbers.add(number)

    def follow(self, found: Value, of: Iterable[Value]) -> None:
        """``found`` was worked out of these; for who knows that there are ``numbers``."""
        if any(map(self.has, of)):
            for each in found if isinstance(found, tuple) else (found,):
                self.add(each)

    def has(self, value: Value) -> bool:
        """Whether a number is made up, as far as its value says."""
        return (type(value) is int or type(value) is float) and value in self.numbers

    def writes(self, value: Value) -> TypeGuard[int | float | str]:
        """Whether a value is a number or a text that Python writes in a run as it does here."""
        if type(value) is Symbolic:  # it has another value for whoever shares the reading
            return False
        return isinstance(value, (int, float, str)) and not self.has(value)
