"""What an evaluation may cost: every value is small, and so is all the work together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.source.values import Plain

MAX_BITS = 4096  # of an integer; far below the 4300 digits at which Python refuses str()
MAX_SIZE = 10_000  # characters and items of a value, nested ones included
MAX_DEPTH = 20  # of containers in containers
WORK = 1_000_000  # operations and items for one file

TOO_LARGE = "too large to evaluate"


class Unevaluable(Exception):
    """An expression has no value that could be told without a run."""

    def __init__(self, reason: str, candidates: tuple[Plain, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.candidates = candidates


class Budget:
    """The work that is left for one file."""

    def __init__(self) -> None:
        self._left = WORK

    def spend(self, work: int) -> None:
        """Take ``work`` off; raises Unevaluable when nothing is left."""
        self._left -= work
        if self._left < 0:
            raise Unevaluable(TOO_LARGE)

    def admit(self, value: object) -> Plain:
        """``value``, once it is plain and small enough to be worked with."""
        self.spend(_size(value, 0))
        return value  # type: ignore[return-value]  # _size has seen every part of it


def _size(value: object, depth: int) -> int:
    """The size of a plain value; stops as soon as it is too large, however much is shared."""
    kind = type(value)
    if kind is int:
        if value.bit_length() > MAX_BITS:  # type: ignore[attr-defined]
            raise Unevaluable(TOO_LARGE)
        return 1
    if kind in (bool, float) or value is None:
        return 1
    if isinstance(value, str):
        _check_text(value)
        return 1 + len(value)
    if depth >= MAX_DEPTH:
        raise Unevaluable(TOO_LARGE)
    if isinstance(value, (tuple, list)):
        parts = list(value)
    elif isinstance(value, dict):
        parts = [*value, *value.values()]
        if any(isinstance(key, tuple) for key in value):
            raise Unevaluable("a dictionary with tuples for keys")
    else:
        raise Unevaluable(f"a value of type {kind.__name__}")
    size = 1
    for part in parts:
        size += _size(part, depth + 1)
        if size > MAX_SIZE:
            raise Unevaluable(TOO_LARGE)
    return size


def _check_text(text: str) -> None:
    if len(text) > MAX_SIZE:
        raise Unevaluable(TOO_LARGE)
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise Unevaluable("a string that is not valid Unicode")
