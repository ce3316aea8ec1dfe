"""The datasets of a project, and the vocabulary size in one, read without unpickling its meta.pkl.

A pickle is a program for a stack machine. This runs it with everything but numbers, strings and
dictionaries left blank: nothing is imported, called or built.
"""

from __future__ import annotations

import pickletools
import re
import struct
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import FOLDER, MOST_BYTES, is_file, kind, names, read_bytes
from nanolint.files.notes import memo
from nanolint.regex import lazily
from nanolint.run.settled import Layer, Origin
from nanolint.run.trust import Doubt, Subject
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.keys import PADDED_VOCABULARY, SHAKESPEARE_CHAR_VOCABULARY
from nanolint.trainers.nanogpt.reading import SOURCE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.source.values import Value

META = "meta.pkl"
PREPARE = "prepare.py"
MOST_MAKERS = 20  # programs of a data set that are looked at
# What nanoGPT's own prepare.py says, in these lines.
_DOWNLOADS = lazily(rb"^[^#\n]*tinyshakespeare/input\.txt", re.MULTILINE)
_COUNTS = lazily(rb"^[ \t]*\w+[ \t]*=[ \t]*sorted\((?:list\()?set\(\w+\)", re.MULTILINE)
CHARACTERS = "shakespeare_char"
WITHOUT_META = frozenset({"openwebtext", "shakespeare"})  # nanoGPT's data sets that write none


def dataset_vocabulary(dataset: str) -> tuple[Value, Origin]:
    """The vocabulary that nanoGPT's own train.py takes for one of its own data sets."""
    if dataset == CHARACTERS:
        return Known(SHAKESPEARE_CHAR_VOCABULARY), Origin(Layer.DATASET)
    return Known(PADDED_VOCABULARY), Origin(Layer.DEFAULT)


def whether_it_exists(path: str, root: Path | None) -> tuple[Value, Doubt | None]:
    """Whether a script in ``root`` will find a file at ``path``, as far as that is known.

    A meta.pkl that is not here is found all the same where a program beside it writes one, and that
    of nanoGPT's character data set. Where its folder is not here either, there is a doubt.
    """
    if "\0" in path:
        return Known(value=False), None
    place = (root or Path()) / path
    if is_file(place):
        return Known(value=True), None
    folder = place.parent
    if place.name != META:
        return Unknown(f"nanolint cannot know before the run whether {path} exists"), None
    if folder.name == CHARACTERS:
        return Known(value=True), None
    if (maker := maker_of(folder, META)) is not None:
        return Unknown(_unwritten(path, maker)), None
    if kind(folder) == FOLDER or folder.name in WITHOUT_META:
        return Known(value=False), None
    text = f"assuming that {path} does not exist: its folder is not here"
    return Known(value=False), Doubt(Subject.VOCABULARY, text)


def pickled_vocabulary(path: str, root: Path | None) -> tuple[Value, Origin]:
    """The ``vocab_size`` in the pickle at ``path``, which is only read; and which file decided it.

    Unknown where it does not give it away, or is not here.
    """
    place = (root or Path()) / path
    if is_file(place):
        return _from_pickle(place), Origin(Layer.DATASET, place)
    if place.parent.name == CHARACTERS:
        size = _characters(place.parent)
        if size is not None:
            return Known(size), Origin(Layer.DATASET)
    maker = maker_of(place.parent, place.name) or PREPARE
    return Unknown(_unwritten(path, maker)), Origin(Layer.DATASET, place.parent / maker)


def _characters(folder: Path) -> int | None:
    """The characters of nanoGPT's data set: those of the text that its prepare.py downloads, or of
    the input.txt that it finds; None where prepare.py is another one."""
    with suppress(Unusable):
        prepare = read_bytes(folder / "prepare.py", SOURCE_LIMIT)
        if not (_DOWNLOADS.search(prepare) and _COUNTS.search(prepare)):
            return None
    try:
        text = read_bytes(folder / "input.txt", MOST_BYTES).decode("utf-8")
        return len(set(text.replace("\r\n", "\n").replace("\r", "\n")))
    except (Unusable, UnicodeDecodeError):
        return None if is_file(folder / "input.txt") else SHAKESPEARE_CHAR_VOCABULARY


def _unwritten(path: str, maker: str) -> str:
    return (
        f"{path} holds it, which {maker} writes and which is not here; give it with "
        "--set vocab_size=N"
    )


def datasets(root: Path) -> list[str]:
    """The names of the folders in ``root``'s data folder, sorted."""
    data = root / "data"
    return [name for name in names(data) if kind(data / name) == FOLDER]


def has_dataset(root: Path, dataset: str) -> bool:
    """Whether ``root`` has the folder that train.py would read ``dataset`` from."""
    return kind(root / "data" / dataset) == FOLDER


def _from_pickle(meta: Path) -> Value:

    size = vocabulary(meta)
    if size is None:
        return Unknown(f"{meta} is readable only by running it; pass --set vocab_size=N")
    return Known(size)


@memo
def maker_of(folder: Path, name: str) -> str | None:
    """The program in ``folder`` that writes the file ``name`` there: prepare.py, or another."""
    programs = sorted(names(folder, "*.py"), key=lambda each: (each != PREPARE, each))
    return next((each for each in programs[:MOST_MAKERS] if _writes(folder / each, name)), None)


def _writes(program: Path, name: str) -> bool:
    """Whether the text of a program names the file."""
    try:
        content = read_bytes(program, SOURCE_LIMIT)
    except Unusable:
        return False
    return name.encode() in content


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
        "PROTO": _nothing,
        "FRAME": _nothing,
        "MARK": _mark,
        "POP": _pop,
        "POP_MARK": _forget_to_mark,
        "DUP": _duplicate,
        "PUT": _put,
        "BINPUT": _put,
        "LONG_BINPUT": _put,
        "MEMOIZE": _memoize,
        "GET": _get,
        "BINGET": _get,
        "LONG_BINGET": _get,
        "EMPTY_DICT": _empty_dictionary,
        "DICT": _dictionary,
        "SETITEM": _set_item,
        "SETITEMS": _set_items,
    }
