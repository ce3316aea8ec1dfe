"""Files: which there are, and what they hold, as far as that is known.

A file of tokens is an array that is long enough.
"""

from __future__ import annotations

import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING

from nanolint.interpreter.copies import copied
from nanolint.interpreter.exceptions import CATCHABLE
from nanolint.interpreter.values import Class, Instance, Namespace, Native, Raised, Unknown, Unread
from nanolint.run.program import CHECKPOINTS, SAVED
from nanolint.script.corpora import Text
from nanolint.script.phases import Finished
from nanolint.source.settings_text import Listed, Mapped
from nanolint.tensors.device import NotTraced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.values import Place, Value
    from nanolint.run.program import DataFile
    from nanolint.script.machine import Script
    from nanolint.source.settings_text import Node


MOST_OF_MAKER = 200_000  # statements of a program that prepares data


EXISTS = "whether a file exists"
CLOCKS = ("datetime.", "time.")  # the beginnings of reasons of what they tell
PACKED = ("gzip", "bz2", "lzma")  # what is packed so is no text that is known


class File(Unknown):
    """A file that is open; what it holds is not known. ``is_text``: it is read as a text in UTF-8,
    with line ends as Python makes them."""

    __slots__ = ("is_text", "path")

    def __init__(self, path: Value, place: Place, *, is_text: bool = True) -> None:
        super().__init__("the contents of a file", place)
        self.path = path
        self.is_text = is_text


class Somewhere(Unknown):
    """A path of which only the end is known."""

    __slots__ = ("tail",)

    def __init__(self, reason: str, place: Place, tail: str) -> None:
        super().__init__(reason, place)
        self.tail = tail


class Listing(Unknown):
    """The files that are there: to go through them is to see one, as what ``kind`` makes of it."""

    __slots__ = ("kind",)

    def __init__(self, reason: str, place: Place, kind: Value = None) -> None:
        super().__init__(reason, place)
        self.kind = kind

    def seen(self, machine: Script) -> Iterator[Value]:
        """The one, whichever it is."""
        one = self.bare()
        return iter([one if self.kind is None else machine.call(self.kind, [one])])


class Pickled(Unknown):
    """The content of a pickle, of which the size of the vocabulary is known."""

    __slots__ = ("vocabulary",)

    def __init__(self, vocabulary: int, place: Place) -> None:
        super().__init__("the contents of a file", place)
        self.vocabulary = vocabulary


class Numbering(Unknown):
    """A table with a number for each character."""

    __slots__ = ()


def opens(machine: Script) -> Native:
    """``open``."""

    def opened(
        path: Value = "",
        mode: Value = "r",
        *_: Value,
        encoding: Value = "utf-8",
        newline: Value = None,
        **__: Value,
    ) -> Value:
        plain = isinstance(mode, str) and "b" not in mode and encoding in ("utf-8", "utf8", None)
        return File(written(path), machine.place, is_text=plain and newline is None)

    return Native("open", opened, plain=False)


def lines(machine: Script, file: File) -> list[str] | None:
    """The lines of a short text; None of any other."""
    known = known_file(machine, file.path)
    return None if known is None or known.text is None else known.text.splitlines(keepends=True)


def of_file(machine: Script, owner: File, name: str) -> Value:
    """Returns an attribute of an open file: its text, of which the characters may be known."""
    if name == "readlines" and (found := lines(machine, owner)) is not None:
        return Native(name, lambda *_: found)
    if name == "read" and machine.text_of(owner.path) is not None:
        return Native(name, lambda *_: owner, plain=False)
    if name != "read":
        return owner.bare()
    known = known_file(machine, owner.path)
    path = owner.path if isinstance(owner.path, str) else None

    def read(*given: Value, **named: Value) -> Value:
        if known is None:
            return Text(machine.place, None, path)
        is_whole = owner.is_text and not given and not named
        if not is_whole:
            return Text(machine.place, known.characters, path)
        return Text(machine.place, known.characters, path, known.count, known.content)

    return Native(name, read, plain=False)


def written(path: Value) -> Value:
    """The text of a path."""
    return path.attributes.get("text", path) if isinstance(path, Instance) else path


def paths(machine: Script) -> Namespace:
    """``os.path``."""

    def join(*parts: Value) -> Value:
        parts = tuple(map(written, parts))
        unknown = [at for at, each in enumerate(parts) if isinstance(each, Unknown)]
        if not unknown:
            return posixpath.join(*parts)
        last = parts[unknown[-1]]
        tail = (getattr(last, "tail", ""), *parts[unknown[-1] + 1 :])
        return Somewhere(last.reason, last.place, posixpath.join(*tail))

    def exists(path: Value) -> Value:
        path = written(path)
        known = known_file(machine, path)
        if known is not None:
            machine.presumes |= not known.exists
            return known.exists
        if isinstance(path, Unknown) and machine.around.loaded:
            return True  # what lies beside a checkpoint that is there
        if machine.around.fresh and _is_checkpoint(path):
            machine.presumes = True
            return False
        return machine.unknown(EXISTS)

    known = ("basename", "dirname", "isabs", "normpath", "split", "splitext")
    names: dict[str, Value] = {name: Native(name, getattr(posixpath, name)) for name in known}
    names |= {
        "join": Native("join", join, plain=False),
        "expanduser": Native("expanduser", lambda path: path),
        **{name: Native(name, lambda path: path) for name in ("abspath", "realpath")},
        "exists": Native("exists", exists, plain=False),
        "isfile": Native("isfile", exists, plain=False),
        "isdir": Native(
            "isdir", lambda *_: machine.unknown("whether a folder exists"), plain=False
        ),
    }
    return Namespace("os.path", names)


def _is_checkpoint(path: Value) -> bool:
    """Whether a path is that of what the script itself saves, and not of data."""
    if isinstance(path, Somewhere) and path.reason.startswith(CLOCKS):
        path = path.tail  # of a folder that this run has made
    if not isinstance(path, str) or path.startswith(("/", "~")):
        return False
    return path.endswith(CHECKPOINTS) and SAVED.search(path) is not None


def known_file(machine: Script, path: Value) -> DataFile | None:
    """Returns what is known of a file of the run's data."""
    if not isinstance(path, str):
        return None
    plain = posixpath.normpath(path)
    known = machine.around.files
    found = next((each for each in known if each.path == plain), None)
    # A data set that lies elsewhere was made by the same program: what that never writes is not
    # there either.
    return found or next((each for each in known if _is_missing(each, plain)), None)


def _is_missing(known: DataFile, path: str) -> bool:
    *_, folder, name = ("", *path.split("/"))
    return not known.exists and known.maker is None and known.path == f"data/{folder}/{name}"


def unpickled(machine: Script, file: Value, *_: Value, **__: Value) -> Value:
    """``pickle.load`` and ``json.load``: what the script itself, or the program that makes the
    file, puts into it."""
    if isinstance(file, File) and isinstance(file.path, str):
        own = machine.dumped.get(posixpath.normpath(file.path))
        if own is not None:
            return copied(own, {})
    known = known_file(machine, file.path) if isinstance(file, File) else None
    if known is not None and known.vocabulary is not None:
        return Pickled(known.vocabulary, machine.place)
    found = None if known is None else _produced(machine, known)
    return machine.unknown("the contents of a file") if found is None else found


def settings(machine: Script, read: Callable[[str], Node]) -> Native:
    """``json.load``, ``yaml.safe_load`` and the like: the project's own settings, as far as they
    are known to be read."""

    def load(file: Value = None, *rest: Value, **named: Value) -> Value:
        source = machine.text_of(file.path) if isinstance(file, File) else None
        if source is None and (saved := _of_checkpoint(machine)) is not None:
            return valued(machine, saved)
        if source is None:
            return unpickled(machine, file, *rest, **named)
        return valued(machine, read(source.text))

    return Native("load", load, plain=False)


def parsed(machine: Script, read: Callable[[str], Node]) -> Native:
    """Returns a function that turns a text of settings into its value."""

    def parse(text: Value) -> Value:
        return valued(machine, read(text)) if isinstance(text, str) else text

    return Native("parse", parse, plain=False)


def _of_checkpoint(machine: Script) -> Node | None:
    """What the statement that is read takes from a checkpoint that the run goes on from."""
    here = (machine.place.path, machine.place.line)
    return next((e.contents for e in machine.around.loaded if (e.path, e.line) == here), None)


def valued(machine: Script, node: Node) -> Value:
    """The value of a text of settings, as Python has it."""
    if isinstance(node, Mapped):
        return {key: valued(machine, each) for key, each in node.entries}
    if isinstance(node, Listed):
        return [valued(machine, each) for each in node.items]
    return node.value if node.known else machine.unknown("a value of a file")


def _produced(machine: Script, known: DataFile) -> Value:
    """What a file holds that the program writes which makes it; None where that is not read."""
    if known.maker is None:
        return None
    made = machine.another(known.maker, known.inputs)
    made.steps = MOST_OF_MAKER
    with suppress(Unread, Raised, Finished, NotTraced, RecursionError, *CATCHABLE):
        made.read()
    name = posixpath.basename(known.path)
    return next((each for at, each in made.dumped.items() if posixpath.basename(at) == name), None)


def dumped(machine: Script, value: Value, file: Value, *_: Value, **__: Value) -> None:
    """``pickle.dump`` and ``json.dump``."""
    if isinstance(file, File) and isinstance(file.path, str):
        kept = copied(value, {}) if _is_plain(value) else None
        machine.dumped[posixpath.normpath(file.path)] = kept


def _is_plain(value: Value) -> bool:
    """Whether a value has nothing to do with any device, or with what is not known."""
    if isinstance(value, dict):
        return all(_is_plain(each) for each in (*value, *value.values()))
    if isinstance(value, (list, tuple, set)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (str, int, float))


def listed(machine: Script) -> Native:
    """Returns a function that lists files: there are some, and which ones is not known."""

    def glob(*given: Value, **_: Value) -> Value:
        pattern = next((written(each) for each in given if not isinstance(each, Class)), None)
        if machine.around.fresh and _is_checkpoint(pattern):
            return []  # none that it could go on from
        kind = next((each for each in given if isinstance(each, Class)), None)
        return Listing("which files there are", machine.place, kind)

    return Native("glob", glob, plain=False)
