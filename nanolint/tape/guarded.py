"""What symbolic numbers are put to without deciding more by them than has to be decided."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeVar

from nanolint.tape.symbolic import TAKES_OVER, Symbolic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.tape.symbolic import Formulas

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


def of_formulas(of: Formulas, question: Callable[..., Any], card: Any, about: Any) -> Any:
    """What ``question`` answers of a card about numbers of formulas: a formula again, or a guard.

    ``card`` is the place of the card among what was given.
    """
    how, given = _Applied(question), of.tuple_of((of.given(card), *about))
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
