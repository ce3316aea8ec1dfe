"""The name of the card, of which the model is known and the words around it are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.gpus.said import UNKNOWN, says
from nanolint.interpreter.values import Unknown, silent

if TYPE_CHECKING:
    from nanolint.interpreter.values import Place, Value
    from nanolint.script.machine import Script
    from nanolint.tensors.device import Card

CASES = ("lower", "upper")


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


def name_of(machine: Script) -> CardName:
    """The name of the card that is asked about."""
    return CardName(machine.around.asked.ask(_model), machine.place)


def _model(card: Card) -> str:
    return card.model
