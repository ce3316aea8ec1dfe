"""The value of an expression, or why it has none; and why a text is not read."""

from __future__ import annotations

from typing import TypeAlias

from nanolint.errors import Refused
from nanolint.frozen import dataclass

Scalar: TypeAlias = "int | float | bool | str | None"
Plain: TypeAlias = "Scalar | tuple[Plain, ...] | list[Plain] | dict[Scalar, Plain]"


@dataclass(frozen=True, slots=True)
class Known:
    """An expression whose value is the same on every machine."""

    value: Plain


@dataclass(frozen=True, slots=True)
class Unknown:
    """An expression that only a run could evaluate.

    ``candidates`` are the values that it can take, where that is known: both branches of a
    conditional expression with an unknown test, in source order.
    """

    reason: str
    candidates: tuple[Plain, ...] = ()


Value: TypeAlias = "Known | Unknown"


class TooComplex(Refused):
    """A text past the bounds within which it is parsed; the message says which."""


class Unparsable(Refused):
    """Text that is not valid Python; ``offset`` is the character where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
