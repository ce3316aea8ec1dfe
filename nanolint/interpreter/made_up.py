"""Numbers that stand for others which only a run knows: the tokens of a file, an object's id.

Memory does not follow them, or the run is in doubt. What is worked out of one is made up, too, and
is not told to people. They are known by their values, as they are plain numbers wherever they go:
another number of the same value is taken for one, and then is not told either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from nanolint.tape.symbolic import Symbolic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.values import Value

FEW = 1000  # from which on a whole number is hardly another's


class MadeUp:
    """``numbers`` are their values. ``is_lost``: one of them came to a number that many are; no
    number is sure from there on."""

    def __init__(self) -> None:
        self.numbers = set[int | float]()
        self.is_lost = False
        self.compared = 0  # how often one was

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
