"""Texts of what is no text: ``str(device)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.device import Device
from nanolint.tensors.dtypes import Dtype

if TYPE_CHECKING:
    from nanolint.interpreter.machine import Machine


class CardName(str):
    """The card's name, with its number or without."""

    __slots__ = ("machine",)
    machine: Machine

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and other.startswith("cuda") and other is not self:
            raise self.machine.unread("whether the card's name has its number")
        return other is self

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))


def text_of(machine: Machine, value: object) -> str | None:
    """``str(value)`` of a type or a device; None if it is neither."""
    if isinstance(value, Dtype):
        return f"torch.{value}"
    if isinstance(value, Device):
        if value is not machine.card:
            return "cpu" if value is machine.host else "meta"
        found = CardName("cuda")
        found.machine = machine
        return found
    return None
