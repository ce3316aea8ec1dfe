"""Tokenizers that packages bring: how many tokens they know, and how many a text is cut to.

Of a model's file of ``sentencepiece`` neither its pieces nor how many they are is known.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native, Unknown, silent
from nanolint.interpreter.watched import Index
from nanolint.run.downloads import CLASSES, GROWS, LENGTH, SIZES, vocabulary_of
from nanolint.script import files, settings, transformers
from nanolint.script.arrays import Loaded
from nanolint.script.chances import DATA
from nanolint.script.corpora import of_tokenizer
from nanolint.tensors.dtypes import INT64
from nanolint.tensors.tensor import empty

if TYPE_CHECKING:
    from nanolint.interpreter.values import Place, Value
    from nanolint.script.machine import Script

CLASS = "SentencePieceProcessor"
LOADS = frozenset({"load", "Load", "LoadFromFile"})
# What gives one number for a token; ``corpora.ENCODERS`` are those that give one for each.
TOKENS = frozenset({"bos_id", "eos_id", "pad_id", "unk_id", "piece_to_id", "PieceToId"})
PIECES = frozenset({"vocab_size", "get_piece_size", "GetPieceSize", "piece_size"})


class Processor(Unknown):
    """A tokenizer that is read from a model's file; ``size`` is how many pieces it has, None if
    nothing says it."""

    __slots__ = ("size",)

    def __init__(self, size: int | None, place: Place) -> None:
        super().__init__("the work of a tokenizer", place)
        self.size = size


def attribute_of_pieces(machine: Script, owner: Processor, name: str) -> Value:
    """Returns an attribute of it: its methods."""
    if name in LOADS:
        return silent(name, True)
    if name in TOKENS:
        return Native(name, lambda *_: Index("a token", machine.place, object()), plain=False)
    if name in PIECES:
        return Native(name, lambda *_: _size(machine, owner), plain=False)
    return owner.bare()


def _size(machine: Script, owner: Processor) -> Value:
    return of_tokenizer(machine, owner) if owner.size is None else owner.size


def package(machine: Script) -> Namespace:
    """The package."""

    def make(*_: Value, **__: Value) -> Processor:
        return Processor(machine.around.vocabulary, machine.place)

    made = Native(CLASS, make, plain=False)
    return Namespace("sentencepiece", {CLASS: made})


OF_TOKENS = "_token_id"  # the end of names that stand for one token, such as pad_token_id
LONGEST = "max_length"
# What an encoding has, each a number for each token.
TYPES = "token_type_ids"
PARTS = ("input_ids", "attention_mask")


class Tokenizer(Unknown):
    """``size`` tokens, None if it is not known; ``length`` is that of ``len()``, and None once
    tokens were added."""

    __slots__ = ("length", "size")

    def __init__(self, size: int | None, place: Place) -> None:
        super().__init__("the work of a tokenizer", place)
        self.size = size
        self.length: int | None = size


class Encoding(Namespace):
    """The result of a tokenizer: a mapping whose ``parts`` are asked for as attributes, too. Those
    of models that predict the next token list no types of tokens."""

    def __init__(
        self, machine: Script, parts: dict[Value, Value], others: dict[Value, Value]
    ) -> None:
        self.parts = parts

        def to(device: Value = None, **_: Value) -> Encoding:
            def moved(of: dict[Value, Value]) -> dict[Value, Value]:
                return {
                    name: machine.call(machine.attribute(each, "to"), [device])
                    for name, each in of.items()
                }

            return Encoding(machine, moved(parts), moved(others))

        methods: dict[str, Value] = {"to": Native("to", to, plain=False)}
        for name, found in (("items", parts.items), ("keys", parts.keys), ("values", parts.values)):
            methods[name] = Native(name, lambda found=found: list(found()), plain=False)
        super().__init__("encoding", {**others, **parts, "data": parts, **methods})

    def put(self, name: Value, value: Value) -> None:
        """``encoding["labels"] = value``."""
        self.parts[name] = self.names[name] = value


OF_FILES = ("transformers.", "tokenizers.")  # packages whose tokenizers may be files
KINDS = (Tokenizer, Processor)


def attribute_of(machine: Script, owner: Tokenizer | Processor, name: str) -> Value:
    """Returns an attribute of a tokenizer."""
    if isinstance(owner, Processor):
        return attribute_of_pieces(machine, owner, name)
    if name in SIZES:
        return of_tokenizer(machine, owner) if owner.size is None else owner.size
    if name == "get_vocab_size":
        return Native(name, partial(_counted, machine, owner), plain=False)
    if name == "max_token_value" and owner.size is not None:
        return owner.size - 1
    if name.endswith(OF_TOKENS):
        return Index("a token", machine.place, object())
    if name in GROWS:

        def grow(*_: Value, **__: Value) -> Value:
            owner.length = None
            return machine.unknown("how many tokens are new")

        return Native(name, grow, plain=False)
    return owner.bare()


def settle(owner: Tokenizer | Processor, name: str, size: Value) -> None:
    """The script has checked that ``name``, which says how many tokens there are, is ``size``."""
    if not isinstance(size, int):
        return
    if isinstance(owner, Processor):
        if name in PIECES or name == LENGTH:
            owner.size = size
    elif name in SIZES:
        owner.size = size
    elif name in (LENGTH, "get_vocab_size"):
        owner.length = size


def _counted(machine: Script, owner: Tokenizer, with_added_tokens: Value = True) -> Value:
    count = owner.length if with_added_tokens is True else owner.size
    return of_tokenizer(machine, owner) if count is None else count


def encoded(
    machine: Script,
    owner: Tokenizer,
    text: Value = None,
    *,
    truncation: Value = False,
    max_length: Value = None,
    padding: Value = False,
    return_tensors: Value = None,
    return_overflowing_tokens: Value = False,
    return_length: Value = False,
    **_: Value,
) -> Value:
    """``tokenizer(text)``: how many tokens it makes only a run knows, how many it keeps is said."""
    is_cut = truncation is True and type(max_length) is int
    rows = _rows(text)
    if rows is None and not (isinstance(text, Unknown) or (is_cut and isinstance(text, str))):
        return owner.bare()
    if rows is None and isinstance(text, Unknown) and machine.lengths.apart:
        return owner.bare()  # it may be several
    if return_tensors is not None and rows is not None and (padding is False or not is_cut):
        return owner.bare()
    if is_cut and padding == LONGEST:
        count = max_length
    elif machine.lengths.apart and is_cut:
        settings.doubt(machine, "assuming that a text is as long as its limit")
        count = max_length
    else:
        count = machine.lengths.at_most(max_length) if is_cut else machine.lengths.endless()
    machine.made_up.add(count)
    if return_tensors is not None:
        row: Value = empty(machine.host, (rows or 1, count), INT64, DATA)
    else:
        counts = [count] * (rows or 1)
        if return_overflowing_tokens is True and is_cut:
            counts.append(max_length)  # of a text's pieces but the last
        token = Index("a token", machine.place, object())
        listed = [[token] * each for each in counts]
        row = listed if len(counts) > 1 or rows is not None else listed[0]
        lengths = counts if row is listed else count
    parts: dict[Value, Value] = {name: copy(row) for name in PARTS}
    if return_length is True and return_tensors is None:
        parts["length"] = lengths
    return Encoding(machine, parts, {TYPES: copy(row)})


def _rows(text: Value) -> int | None:
    """How many texts there are, where they are several: those of a batch, or a list of them."""
    if isinstance(text, Loaded):
        return text.rows
    return len(text) if isinstance(text, (list, tuple)) and text else None


def _take(machine: Script, made: Tokenizer, path: Value) -> None:
    """What is known of the project's own tokenizer of that path."""
    known = files.known_file(machine, files.written(path))
    if known is not None and known.count is not None:
        made.size, made.length = known.vocabulary, known.count


def install(machine: Script) -> dict[str, Value]:
    """The packages by their names."""

    def made(function: str) -> Native:
        def make(*given: Value, **named: Value) -> Value:
            found = [*given, *named.values()]
            made = Tokenizer(vocabulary_of(function, found), machine.place)
            if made.size is None and found and function.startswith(OF_FILES):
                _take(machine, made, found[0])
            return made

        return Native(function, make, plain=False)

    tiktoken = {name: made(f"tiktoken.{name}") for name in ("get_encoding", "encoding_for_model")}
    of_file = {"from_file": made("tokenizers.Tokenizer.from_file")}
    of_transformers: dict[str, Value] = {
        name: Namespace(name, {"from_pretrained": made(f"transformers.{name}.from_pretrained")})
        for name in CLASSES
    }
    return {
        "tiktoken": Namespace("tiktoken", {**tiktoken}),
        "tokenizers": Namespace("tokenizers", {"Tokenizer": Namespace("Tokenizer", {**of_file})}),
        "sentencepiece": package(machine),
        **transformers.table(machine, of_transformers),
    }
