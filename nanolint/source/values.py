"""What the evaluator knows about an expression: its value, or why it has none."""

from __future__ import annotations

from typing import TypeAlias

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
