"""The vocabulary size in a dataset's meta.pkl, read without unpickling it.

A pickle is a program for a stack machine. This runs it with everything but numbers, strings and
dictionaries left blank: nothing is imported, called or built.
"""

from __future__ import annotations

import pickletools
import struct
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZE_LIMIT = 8 << 20  # bytes; the meta.pkl of a GPT-2 sized vocabulary has two million
OPCODE_LIMIT = 1_000_000


class _Blank:
    """A value that this reading does not follow."""


class _Dictionary(_Blank):
    """A dictionary, of which only one entry matters."""

    def __init__(self) -> None:
        self.vocab_size: object = None
        self.certain = True  # False once something unknown may have changed it

    def set(self, key: object, value: object) -> None:
        if isinstance(key, _Blank):
            self.certain = False  # could be equal to "vocab_size"
        elif key == "vocab_size":
            self.vocab_size = value


_BLANK = _Blank()
_MARK = object()
_NUMBERS_AND_STRINGS = frozenset(
    {
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4"),
        *("STRING", "BINSTRING", "SHORT_BINSTRING"),
        *("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    }
)


def vocabulary(meta_pkl: Path) -> int | None:
    """The entry ``vocab_size`` of the dictionary pickled in ``meta_pkl``.

    None when there is no such entry, or no proof of it: the file is not a small regular file, is
    damaged, or the number only comes about by running code. Never raises, never unpickles.
    """
    try:
        return _vocabulary(read_bytes(meta_pkl, SIZE_LIMIT))
    except Unusable:
        return None


def _vocabulary(content: bytes) -> int | None:
    try:
        pickled = _Machine().run(content)
    except (ValueError, EOFError, LookupError, OverflowError, MemoryError, struct.error):
        return None  # damaged, or not a pickle at all
    if not isinstance(pickled, _Dictionary) or not pickled.certain:
        return None
    size = pickled.vocab_size
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    return None


class _Machine:
    """The pickle machine, with most values left blank."""

    def __init__(self) -> None:
        self._stack: list[object] = []
        self._memo: dict[object, object] = {}

    def run(self, content: bytes) -> object:
        """What the pickle leaves on the stack. Raises ValueError or LookupError on nonsense."""
        for count, (opcode, argument, _) in enumerate(pickletools.genops(content)):
            if count >= OPCODE_LIMIT:
                raise ValueError("too long")
            if opcode.name == "STOP":
                return self._stack[-1]
            if opcode.name in _NUMBERS_AND_STRINGS:
                self._stack.append(argument)
            elif opcode.name in self._HANDLERS:
                self._HANDLERS[opcode.name](self, argument)
            else:
                self._blank_out(opcode)
        raise ValueError("no end")

    def _blank_out(self, opcode: pickletools.OpcodeInfo) -> None:
        """Take from the stack what ``opcode`` takes, and leave blanks for what it leaves."""
        taken: list[object] = []
        before = opcode.stack_before
        if pickletools.markobject in before:
            taken += self._pop_to_mark()
            before = before[: before.index(pickletools.markobject)]
        taken += [self._stack.pop() for _ in before]
        for value in taken:
            if isinstance(value, _Dictionary):
                value.certain = False  # in other hands now
        self._stack += [_BLANK] * len(opcode.stack_after)

    def _pop_to_mark(self) -> list[object]:
        items: list[object] = []
        while (value := self._stack.pop()) is not _MARK:
            items.append(value)
        return items[::-1]

    def _top_dictionary(self) -> _Dictionary:
        top = self._stack[-1]
        return top if isinstance(top, _Dictionary) else _Dictionary()

    def _mark(self, _: object) -> None:
        self._stack.append(_MARK)

    def _pop(self, _: object) -> None:
        self._stack.pop()

    def _duplicate(self, _: object) -> None:
        self._stack.append(self._stack[-1])

    def _forget_to_mark(self, _: object) -> None:
        self._pop_to_mark()

    def _put(self, index: object) -> None:
        self._memo[index] = self._stack[-1]

    def _memoize(self, _: object) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def _get(self, index: object) -> None:
        self._stack.append(self._memo[index])

    def _empty_dictionary(self, _: object) -> None:
        self._stack.append(_Dictionary())

    def _dictionary(self, _: object) -> None:
        items = self._pop_to_mark()
        self._stack.append(_Dictionary())
        self._set(items)

    def _set_item(self, _: object) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._set([key, value])

    def _set_items(self, _: object) -> None:
        self._set(self._pop_to_mark())

    def _set(self, items: list[object]) -> None:
        dictionary = self._top_dictionary()
        for key, value in zip(items[::2], items[1::2], strict=True):
            dictionary.set(key, value)

    def _nothing(self, _: object) -> None:
        pass

    _HANDLERS: dict[str, Callable[[_Machine, object], None]] = {  # noqa: RUF012
        **dict.fromkeys(("PROTO", "FRAME"), _nothing),
        "MARK": _mark,
        "POP": _pop,
        "POP_MARK": _forget_to_mark,
        "DUP": _duplicate,
        **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _put),
        "MEMOIZE": _memoize,
        **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _get),
        "EMPTY_DICT": _empty_dictionary,
        "DICT": _dictionary,
        "SETITEM": _set_item,
        "SETITEMS": _set_items,
    }
