"""Numbers that only a run tells: whole ones, whose differences are known, and fractions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Unknown

if TYPE_CHECKING:
    from nanolint.interpreter.values import Place, Value
    from nanolint.tensors.rows import Rows


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


ANY = 1.5


def worked_out(op: ast.operator, left: Value, right: Value) -> Real | None:
    """``left op right`` of two numbers of which one is not known at least, where it has a point."""
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
    """``i : i + length``, where ``i`` is not known: within what is long enough."""

    __slots__ = ("length",)

    def __init__(self, reason: str, place: Place, length: int) -> None:
        super().__init__(reason, place)
        self.length = length


def window(start: Value, stop: Value, step: Value) -> Window | None:
    """``start:stop``, where it has a known length although neither is known."""
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
        """Leave out those behind the last one that are the same value, and how many they are."""
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
