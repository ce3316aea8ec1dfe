"""``sentencepiece``: of a model's file neither its pieces nor how many they are is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native, Unknown, silent
from nanolint.interpreter.watched import Index

if TYPE_CHECKING:
    from nanolint.interpreter.values import Place, Value
    from nanolint.script.machine import Script

CLASS = "SentencePieceProcessor"
LOADS = frozenset({"load", "Load", "LoadFromFile"})
# What gives one number for a token; ``corpora.ENCODERS`` are those that give one for each.
TOKENS = frozenset({"bos_id", "eos_id", "pad_id", "unk_id", "piece_to_id", "PieceToId"})
SIZES = frozenset({"vocab_size", "get_piece_size", "GetPieceSize", "piece_size"})


class Processor(Unknown):
    """A tokenizer that is read from a model's file; ``size`` is how many pieces it has, None if
    nothing says it."""

    __slots__ = ("size",)

    def __init__(self, size: int | None, place: Place) -> None:
        super().__init__("the work of a tokenizer", place)
        self.size = size


def attribute_of(machine: Script, owner: Processor, name: str) -> Value:
    """Returns an attribute of it: its methods."""
    if name in LOADS:
        return silent(name, True)
    if name in TOKENS:
        return Native(name, lambda *_: Index("a token", machine.place, object()), plain=False)
    if name in SIZES:
        return Native(name, lambda *_: _size(machine, owner), plain=False)
    return owner.bare()


def _size(machine: Script, owner: Processor) -> Value:
    unknown = machine.unknown("how many pieces a tokenizer has")
    return unknown if owner.size is None else owner.size


def package(machine: Script) -> Namespace:
    """The package."""

    def make(*_: Value, **__: Value) -> Processor:
        return Processor(machine.around.vocabulary, machine.place)

    made = Native(CLASS, make, plain=False)
    return Namespace("sentencepiece", {CLASS: made})
