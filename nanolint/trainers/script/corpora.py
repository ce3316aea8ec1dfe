"""The texts that a script trains on: which characters they have, where a file tells."""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import MOST_BYTES, is_file, names, read_bytes
from nanolint.regex import lazily
from nanolint.run.downloads import CHARACTERS, COUNT, SHAKESPEARE
from nanolint.run.program import SETTINGS, DataFile
from nanolint.trainers.nanogpt.reading import SOURCE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from nanolint.run.program import SourceText

MOST_TEXTS = 20
SHORT = 1 << 15  # characters of a text that is read line by line
SUFFIX = ".txt"
_FIELD = lazily(r"{[^{}]*}")  # of an f-string
_TEXT = re.compile(r"""["']([^"'\n]{1,200}\.txt)["']""")
# In YAML no quotes are needed.
_BARE = re.compile(r"^[ \t]*[\w-]{1,60}:[ \t]+([\w./-]{1,200}\.txt)[ \t]*(?:#.*)?$", re.MULTILINE)
_WORD = re.compile(r"""["'](\w[\w.-]{0,30})["']""")  # of a path, perhaps


def texts_of(
    sources: Iterable[SourceText], folder: Path, values: Iterable[str] = ()
) -> Iterator[DataFile]:
    """The text files that the sources name and that are in ``folder``, where the script runs.

    ``values`` may name more. An input.txt that is not there is tiny Shakespeare where a source, or
    a program or the README beside it, says that it is downloaded.
    """
    listed = list(sources)
    named = dict.fromkeys(name for each in listed for name in _TEXT.findall(each.text))
    named |= dict.fromkeys(
        name
        for each in listed
        if each.module.startswith(SETTINGS)
        for name in _BARE.findall(each.text)
    )
    named |= dict.fromkeys(each for each in values if each.endswith(SUFFIX))
    said = any(SHAKESPEARE in each.text for each in listed)
    paths = dict.fromkeys(list(_paths(named, folder))[:MOST_TEXTS])
    paths |= dict.fromkeys(_below(listed, paths, folder))
    for path in paths:
        text = _text(folder / path)
        if text is not None:
            yield DataFile(
                path,
                exists=True,
                characters=_characters(text),
                count=len(text),
                content=text,
                text=text if len(text) <= SHORT else None,
            )
        elif is_file(folder / path):
            yield DataFile(path, exists=True)
        elif _may_be_downloaded(path) and (said or _is_said_near(folder, path)):
            yield DataFile(path, exists=True, characters=CHARACTERS, count=COUNT)


def _may_be_downloaded(path: str) -> bool:
    name = posixpath.basename(path)
    return name == "input.txt" or "shakespeare" in name


def _is_said_near(folder: Path, path: str) -> bool:
    """Whether a program or the README, where the script runs or where the text lies, names what is
    downloaded."""
    for place in dict.fromkeys((folder, (folder / path).parent)):
        listed = (*names(place, "*.py"), *names(place, "*.sh"), *names(place, "README*"))
        for name in listed[:MOST_TEXTS]:
            with suppress(Unusable):
                if SHAKESPEARE.encode() in read_bytes(place / name, SOURCE_LIMIT):
                    return True
    return False


def texts_from(sources: Iterable[SourceText], folders: Sequence[Path]) -> Iterator[DataFile]:
    """The text files that the sources name, where the script runs in one of ``folders``: in that
    which has the file. Of two that differ no more is known than that there is one.

    The script lies in the first of them: what lies above it goes by its way from there, too.
    """
    listed = list(sources)
    found: dict[str, tuple[bool, DataFile]] = {}
    for folder in folders:
        for each in texts_of(listed, folder):
            is_here = is_file(folder / each.path)
            was_there, known = found.setdefault(each.path, (is_here, each))
            if is_here and not was_there:
                found[each.path] = (True, each)
            elif is_here and known != each:
                found[each.path] = (True, DataFile(each.path, exists=True))
    yield from (each for _, each in found.values())
    for folder in folders[1:]:
        for is_here, each in found.values():
            way = posixpath.relpath((folder / each.path).as_posix(), folders[0].as_posix())
            if is_here and way.startswith("../") and is_file(folder / each.path):
                yield replace(each, path=way)


def _below(sources: list[SourceText], paths: Iterable[str], folder: Path) -> Iterator[str]:
    """Where the texts lie of which the sources have the name alone, and by itself that of a folder:
    ``os.path.join(ROOT, "data", "words.txt")``."""
    bare = [each for each in paths if "/" not in each and not is_file(folder / each)]
    words = {word for each in sources for word in _WORD.findall(each.text)} if bare else ()
    for place in sorted(words):
        yield from (f"{place}/{each}" for each in bare if is_file(folder / place / each))


def _paths(named: Iterable[str], folder: Path) -> dict[str, None]:
    """The paths that are named: ``FILE:prompt.txt``, or ``test_{n}.txt`` for several."""
    found: dict[str, None] = {}
    for each in named:
        path = posixpath.normpath(each.rpartition(":")[2])
        place, name = posixpath.split(path)
        if _FIELD.search(name) and not _FIELD.search(place):
            several = names(folder / place, _FIELD.sub("*", name))
            found |= dict.fromkeys(posixpath.join(place, one) for one in several)
        else:
            found[path] = None
    return found


def _text(path: Path) -> str | None:
    """A text as Python reads it; None where it is none."""
    try:
        return _of_bytes(read_bytes(path, MOST_BYTES))
    except (Unusable, UnicodeDecodeError):
        return None


@lru_cache(maxsize=4)
def _of_bytes(content: bytes) -> str:
    return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


@lru_cache(maxsize=4)
def _characters(text: str) -> str:
    return "".join(sorted(set(text)))
