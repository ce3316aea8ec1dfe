"""The names that an expression reads, and operations on their values. Nothing is ever run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanolint.source.bounds import Budget, Unevaluable
from nanolint.source.operations import BUILTINS, binary, run_time_error
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from nanolint.source.values import Plain, Value


@dataclass(slots=True)
class Scope:
    """The names that an expression may read. ``dynamic`` says why any name may be another one.

    After ``from numpy import *`` even ``min`` is not Python's own.
    """

    names: Mapping[str, Value]
    dynamic: str | None = None
    budget: Budget = field(default_factory=Budget)

    def read(self, name: str) -> Plain:
        """The value of ``name``. Raises Unevaluable."""
        value = self.names.get(name)
        if isinstance(value, Known):
            return value.value
        if value is None:
            raise Unevaluable(self.dynamic or f"reads {name}, which is not set above")
        # Only the root of a chain of unknown names is worth telling.
        root = value.reason.startswith("reads ")
        reason = value.reason if root else f"reads {name}: {value.reason}"
        raise Unevaluable(reason, value.candidates)

    def builtin(self, name: str) -> Callable[..., object] | None:
        """The builtin function behind ``name``, None when it is something else here."""
        if self.dynamic is not None or name in self.names:
            return None
        return BUILTINS.get(name)


def operate(symbol: str, left: Value, right: Value, scope: Scope) -> Value:
    """The value of ``left symbol right``."""
    for operand in (left, right):
        if isinstance(operand, Unknown):
            return Unknown(operand.reason)
    try:
        return Known(guarded(scope, binary, symbol, left.value, right.value))  # type: ignore[union-attr]
    except Unevaluable as error:
        return Unknown(error.reason)


def guarded(scope: Scope, operation: Callable[..., object], *operands: Any, **named: Any) -> Plain:
    """The result of ``operation`` when it is small and plain; what it raises, as a reason."""
    try:
        return scope.budget.admit(operation(*operands, **named))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise run_time_error(error) from None
