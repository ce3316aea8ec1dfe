"""The text files of a project, with the commands in them: one search, cached by size and time.

Other scripts that train with values of the same settings or modules are found in them.
"""

from __future__ import annotations

import codecs
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cached import cached_property
from nanolint.errors import Unusable
from nanolint.files import door
from nanolint.files.notes import memo, unnoted
from nanolint.files.repository import Ignored, ignored_above, root_of
from nanolint.frozen import dataclass
from nanolint.regex import lazily
from nanolint.run.takers.commands import commands_in
from nanolint.run.takers.python import may_reach_anything

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.takers.commands import Command

PYTHON = ".py"
MOST_FOLDERS = 2_000
MOST_FILES = 10_000
MOST_BYTES = 1 << 20  # of a file; a script is a few pages
MOST_NOTEBOOK_BYTES = 1 << 23  # pictures and all

# Environments, copies that tools keep, and what version control keeps, are not of the project.
_STRANGERS = frozenset(
    [
        *("__pycache__", "node_modules", "site-packages", "wandb", "venv", ".venv", ".tox", ".nox"),
        *(".git", ".hg", ".svn", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
        *(".ipynb_checkpoints", ".conda", ".eggs"),
    ]
)
_OF_AN_ENVIRONMENT = frozenset({"pyvenv.cfg", "conda-meta"})
_DATA = frozenset({"data", "dataset", "datasets"})  # where only code is searched
_NO_TEXT = (
    *(".bin", ".pt", ".pth", ".pkl", ".npy", ".npz", ".safetensors", ".parquet", ".arrow", ".h5"),
    *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".pdf", ".mp4", ".wav", ".mp3"),
    *(".zip", ".gz", ".bz2", ".xz", ".zst", ".tar", ".whl", ".so", ".o", ".a", ".pyc", ".ttf"),
)
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MODULE = lazily(rb"-m (?<= -m )")  # begins with letters, so it is found fast


@dataclass(frozen=True)
class File:
    """A file as it was found; ``name`` is its path below the folder that was searched.

    ``text`` is kept of Python files only. ``names_scripts``: a name of a script stands anywhere in
    it.
    """

    path: Path
    name: str
    text: str
    commands: tuple[Command, ...]
    names_scripts: bool = True

    @cached_property
    def is_open_ended(self) -> bool:
        """Whether what a Python file executes need not be named in it."""
        return may_reach_anything(self.text)

    def mentions(self, name: str) -> bool:
        """Whether ``name`` stands in the text by itself, and not as a part of a longer one."""
        at = self.text.find(name)
        while at >= 0:
            before, after = self.text[at - 1 : at], self.text[at + len(name) : at + len(name) + 1]
            if not any(each.isalnum() or each == "_" for each in (before, after)):
                return True
            at = self.text.find(name, at + 1)
        return False

    @property
    def is_python(self) -> bool:
        """Whether it is code, and not a text that may hold commands."""
        return self.name.endswith(PYTHON)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The files, and for each that was not searched its name with the reason, as a clause."""

    files: tuple[File, ...]
    unsearched: tuple[tuple[str, str], ...]


@memo
def neighbours(root: Path, depth: int) -> Neighbours:
    """The code, and the texts with commands, in ``root`` and ``depth`` folders down, by path."""
    files: list[File] = []
    unsearched: list[tuple[str, str]] = []
    folders = [(door.place_of(root), "", depth, ignored_above(root), False)]
    searched = read = 0
    while folders:
        folder, above, down, ignored, is_data = folders.pop()
        searched += 1
        if searched > MOST_FOLDERS or read > MOST_FILES:
            unsearched.append((f"{root.name}/", "has more files than are searched"))
            break
        try:
            entries = door.listing(folder)
        except OSError:
            continue
        names = {each.name for each in entries}
        if not names.isdisjoint(_OF_AN_ENVIRONMENT):
            continue
        if ".gitignore" in names:
            ignored = ignored.enter(Path(folder))
        below = []
        for name, is_folder, *version in entries:
            place = f"{folder}{os.sep}{name}"
            if is_folder:
                if (
                    down
                    and name not in _STRANGERS
                    and not _covers(ignored, place, name, is_folder=True)
                ):
                    inside = (f"{above}{name}/", down - 1, ignored, is_data or name in _DATA)
                    below.append((place, *inside))
                continue
            if name.endswith(_NO_TEXT) or (is_data and not name.endswith(PYTHON)):
                continue
            read += 1
            found = _file(place, f"{above}{name}", tuple(version))
            if found is None or _covers(ignored, place, name, is_folder=False):
                continue
            if isinstance(found, File):
                files.append(found)
            else:
                unsearched.append((f"{above}{name}", found))
        folders += reversed(below)
    return Neighbours(tuple(files), tuple(unsearched))


def _covers(ignored: Ignored, place: str, name: str, *, is_folder: bool) -> bool:
    return ignored.may_cover(name) and ignored.covers(Path(place), is_folder=is_folder)


@lru_cache(maxsize=1 << 14)
def _file(place: str, name: str, _version: tuple[int, ...]) -> File | str | None:
    """A file of this size and time, why it was not searched, or None if it is of no interest."""
    with unnoted():  # the listing says when it changes
        return read_file(place, name)


def read_file(path: Path | str, name: str) -> File | str | None:
    """The file, under its ``name``; why it was not searched, as a clause; or None."""
    is_python = name.endswith(PYTHON)
    try:
        text = text_of(path)
    except Unusable as error:
        return f"is not searched: {error}" if is_python else None
    commands = commands_in(text, name) if text else ()
    if is_python:
        return File(Path(path), name, text or "", commands)
    names_scripts = PYTHON in (text or "")
    return File(Path(path), name, "", commands) if commands or names_scripts else None


def text_of(path: Path | str) -> str | None:
    """The text of a file in UTF-8, UTF-16 or Latin-1; None if it has none of interest.

    Raises Unusable.
    """
    name = str(path)
    most = MOST_NOTEBOOK_BYTES if name.endswith(".ipynb") else MOST_BYTES
    content = door.read_bytes(path, most)
    if content.startswith(_UTF_16):
        return content.decode("utf-16", "replace")
    if b".py" not in content and not _MODULE.search(content):  # no command, and no script
        return content.decode("utf-8", "replace") if name.endswith(PYTHON) else None
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


MOST_DEPTH = 64
TRAINS = ".backward("
_IMPORTS = re.compile(r"^[ \t]*(?:from|import)[ \t]+(.+)$", re.MULTILINE)


def other_trainer(of: Path, script: Path) -> str | None:
    """The first script of the project beside ``script`` that trains, and reads ``of`` or a module
    that does; None where there is none. By name: what is put together when it runs is not seen."""
    own = Path(door.place_of(script))
    return next((each.name for each in trainers(of) if each.path != own), None)


def trainers(of: Path) -> Iterator[File]:
    """The scripts of the project that train, and read ``of`` or a module that does."""
    root = root_of(of.parent) or of.parent
    around = neighbours(root, MOST_DEPTH if root_of(of.parent) else 0)
    files = [each for each in around.files if each.is_python]
    reached, waiting = {Path(door.place_of(of))}, [of]
    while waiting:
        path = waiting.pop()
        for file in files:
            if file.path not in reached and _reads(file, path):
                reached.add(file.path)
                waiting.append(file.path)
    yield from (each for each in files if each.path in reached and TRAINS in each.text)


def _reads(file: File, path: Path) -> bool:
    if path.suffix != ".py":
        return file.mentions(path.name)
    return any(path.stem in re.findall(r"\w+", line) for line in _imported(file.text))


def _imported(text: str) -> Iterator[str]:
    return (match[1] for match in _IMPORTS.finditer(text))
