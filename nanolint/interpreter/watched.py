"""Numbers of a program that note what their value decides.

A rate is handed on, multiplied and put into the groups of an optimizer, and nobody looks at it.
Whoever does look asks the reading's ``Asked`` about it, so that a program with another number there
has the same tape where the answers are the same. Only fractions are watched: none is a size, an
index or a count, which CPython takes from a whole number without asking its class.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from nanolint.tape.symbolic import Symbolic
from nanolint.tape.symbolic import plain as unnoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nanolint.interpreter.values import Value
    from nanolint.tensors.asked import Asked, Card

MOST_SYMBOLS = 16
DEPTH = 4  # of lists in lists that a function is given


def number(card: Card, place: int) -> str:
    """All that there is to a number: 0.0 and -0.0 are equal."""
    return repr(card.numbers[place])


def compared(card: Card, place: int, how: Callable[[Any, Any], Any], other: float) -> Any:
    """What a comparison of a number comes to."""
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


def given(asked: Asked, place: int) -> Watched:
    """The number of a program that has this place in ``Card.numbers``, for one reading."""
    return _made(asked.number(place), asked, frozenset({place}), is_given=True)


def plain(value: Value) -> Value:
    """The value, looked at where it is watched: for who goes by its exact type."""
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
