"""Tokenizers that packages bring by name: of all that they are, how many tokens they know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.model.reading.values import Namespace, Native, Unknown
from nanolint.run.tokenizers import CLASSES, GROWS, SIZES, vocabulary_of

if TYPE_CHECKING:
    from nanolint.memory.loop.reading.machine import Script
    from nanolint.memory.model.reading.values import Place, Value


class Tokenizer(Unknown):
    """``size`` tokens; ``length`` is what ``len()`` says, and None once tokens were added."""

    __slots__ = ("length", "size")

    def __init__(self, size: int, place: Place) -> None:
        super().__init__("what a tokenizer does", place)
        self.size = size
        self.length: int | None = size


def attribute_of(machine: Script, owner: Tokenizer, name: str) -> Value:
    """What is asked of a tokenizer."""
    if name in SIZES:
        return owner.size
    if name == "max_token_value":
        return owner.size - 1
    if name in GROWS:

        def grow(*_: Value, **__: Value) -> Value:
            owner.length = None
            return machine.unknown("how many tokens are new")

        return Native(name, grow, plain=False)
    return owner.bare()


def install(machine: Script) -> dict[str, Value]:
    """The packages by their names."""

    def made(function: str) -> Native:
        def make(*given: Value, **named: Value) -> Value:
            size = vocabulary_of(function, [*given, *named.values()])
            if size is None:
                return machine.unknown(f"the tokenizer that {function} gives")
            return Tokenizer(size, machine.place)

        return Native(function, make, plain=False)

    tiktoken = {name: made(f"tiktoken.{name}") for name in ("get_encoding", "encoding_for_model")}
    transformers: dict[str, Value] = {
        name: Namespace(name, {"from_pretrained": made(f"transformers.{name}.from_pretrained")})
        for name in CLASSES
    }
    return {
        "tiktoken": Namespace("tiktoken", {**tiktoken}),
        "transformers": Namespace("transformers", transformers),
    }
