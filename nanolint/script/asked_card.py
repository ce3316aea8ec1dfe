"""A card's answers that are known in part: its name, and how much of it is free."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanolint.gpus.said import UNKNOWN, Between, between, free_of, says
from nanolint.interpreter.operators import BINARY, COMPARE
from nanolint.interpreter.values import Unknown, silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.values import Place, Value
    from nanolint.script.machine import Script
    from nanolint.tensors.device import Card

CASES = ("lower", "upper")
FREE = "how much of the card is free"
# Operators whose result rises or falls with each operand.
FOLLOWED = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class CardName(Unknown):
    """``torch.cuda.get_device_name()``: whether a text is in it is known for most."""

    __slots__ = ("model",)

    def __init__(self, model: str, place: Place) -> None:
        super().__init__(UNKNOWN, place)
        self.model = model

    def has(self, text: Value) -> Value:
        """Whether ``text`` is in it."""
        found = says(self.model, text) if isinstance(text, str) else None
        return self.bare() if found is None else found

    def attribute(self, name: str) -> Value:
        """Its methods: with ``lower`` the same is known of it."""
        if name not in CASES:
            return self.bare()
        return silent(name, CardName(getattr(self.model, name)(), self.place))


class Free(Unknown):
    """``torch.cuda.mem_get_info()[0]`` and what is worked out from it: no number, but two between
    which it lies."""

    __slots__ = ("between",)

    def __init__(self, between: Between, place: Place) -> None:
        super().__init__(FREE, place)
        self.between = between

    def converted(self, how: Callable[..., Any], *operands: Value) -> Value:
        """Returns the result of a function that rises or falls with each operand."""
        ends = [each.between if isinstance(each, Free) else each for each in operands]
        if not all(type(each) in (int, float, Between) for each in ends):
            return self.bare()
        found = between(how, ends)
        if found is None:
            return self.bare()
        return Free(found, self.place) if isinstance(found, Between) else found

    def by(self, op: ast.operator | ast.cmpop, left: Value, right: Value) -> Value:
        """``left op right``, of which it is one or both."""
        divides = isinstance(op, (ast.Div, ast.FloorDiv)) and isinstance(right, Free)
        if not isinstance(op, FOLLOWED) or divides:
            return self.bare()
        _, how = COMPARE[type(op)] if isinstance(op, ast.cmpop) else BINARY[type(op)]
        return self.converted(how, left, right)


def free_on(machine: Script) -> Value:
    """Returns the free bytes of the card that is asked about: unknown once the run allocates."""
    if machine.card.tape.events:
        return machine.unknown(FREE)
    return Free(free_of(machine.around.asked.ask(_total)), machine.place)


def _total(card: Card) -> int:
    return card.total_bytes


def name_of(machine: Script) -> CardName:
    """The name of the card that is asked about."""
    return CardName(machine.around.asked.ask(_model), machine.place)


def _model(card: Card) -> str:
    return card.model
