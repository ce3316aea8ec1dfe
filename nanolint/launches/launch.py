"""Launch lines: what one says of the run that it starts, and what is found of them in a text."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from nanolint.launches.commands import Argument
    from nanolint.launches.placed import Placed

ON_LINE = " {flag}={value}"  # how a flag is put behind the last word of a line


class NotALaunch(ValueError):
    """Words that launch no training script. Its text is one line."""


class UnknownScript(NotALaunch):
    """A launch of something that only a run would tell."""


@dataclass(frozen=True, slots=True)
class Processes:
    """How many processes a run has; None where that is not known before it, and ``why``.

    With a count, ``why`` says what was taken for granted. ``every_card``: as many as the machine
    has cards, whatever their number. ``ranked``: each is told its RANK and WORLD_SIZE by the
    environment, as torchrun does for a single one, too; with a count above 1 it has to be.
    ``local`` is how many of them one machine has, None if that is not known.
    """

    count: int | None
    why: str | None = None
    every_card: bool = False
    ranked: bool = False
    local: int | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """One run: a script, and what it is given, in the order in which it reads that.

    ``script`` is relative to ``folder``, which is relative to where the line stands, and None
    where that is not known. ``allocator`` is None where the line leaves it open. ``remarks`` say
    what of the line was not followed. ``script_end`` is where the word that names the script
    ends in the text, where that is one place. ``added`` is what is put for another flag behind the
    last word, or at ``added_at``. ``cells`` are the configs that cells of a notebook write
    before, by their paths from the folder that the notebook starts in.
    """

    script: Path
    arguments: tuple[Argument, ...]
    processes: Processes
    allocator: str | None = None
    environment: Mapping[str, Argument] = field(default_factory=dict)
    folder: str | None = ""
    remarks: tuple[str, ...] = ()
    is_module: bool = False  # python -m package.module
    written: frozenset[str] = frozenset()  # files that the script writes before
    cells: Mapping[str, Placed] = field(default_factory=dict)
    script_end: int | None = None
    added: str = ON_LINE
    added_at: int | None = None


def path_from(folder: str | None, name: str) -> str | None:
    """A path in ``folder``, by which two spellings of it are the same; None where it is unknown."""
    return None if folder is None else os.path.normpath(Path(folder, name))


def no_scripts(_path: str) -> str | None:
    """No other script is read."""
    return None


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds a launch line: the options of a Slurm script's header, by their long names,
    and the processes that ``starter`` (srun, mpirun) starts of the shell that reads it.

    ``scripts`` gives the text of another shell script by its path, None where it is not there.
    """

    batch: Mapping[str, str] = field(default_factory=dict)
    tasks: Processes | None = None
    starter: str = ""
    scripts: Callable[[str], str | None] = no_scripts


@dataclass(frozen=True, slots=True)
class Nested:
    """A text that another shell runs: ``bash -c '...'``, ``ssh host '...'``; or, where ``path`` is
    given, that of another script, with its arguments: ``bash other.sh 8``."""

    text: Placed
    environment: Mapping[str, Argument]
    around: Around
    path: str | None = None
    arguments: tuple[Argument, ...] = ()


MOST_CHARACTERS = 1 << 18  # of a text; no launch script has more


@dataclass(frozen=True, slots=True)
class Found:
    """A launch line, or why the line cannot be judged.

    ``row`` counts from 1: in the file, or in the ``cell`` of a notebook, which count from 1, too.
    """

    row: int
    launch: Launch | None
    reason: str = ""
    cell: int | None = None

    @property
    def place(self) -> str:
        """Where it is, for people: ``12``, or ``cell 3:2``."""
        return str(self.row) if self.cell is None else f"cell {self.cell}:{self.row}"


@dataclass(frozen=True, slots=True)
class Line:
    """A program ``offset`` characters into a shell's text: what it launches, or why nothing.

    ``matters``: what it would launch is a run, if only it were known.
    """

    offset: int
    launch: Launch | None
    reason: str = ""
    matters: bool = True


class Rows:
    """The lines of a text, by their number from 1."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def row(self, offset: int) -> int:
        """The line that the character at ``offset`` stands in."""
        return bisect_right(self._starts, offset)


def once(found: Iterable[Found]) -> Iterator[Found]:
    """Each different run of a line once, whatever ways lead to it."""
    seen = set()
    for each in found:
        key = (each.cell, each.row, each.reason, repr(each.launch and _plain(each.launch)))
        if key not in seen:
            seen.add(key)
            yield each


def _plain(launch: Launch) -> Launch:
    """A launch without where its words come from."""
    words = tuple(replace(each, pieces=()) for each in launch.arguments)
    names = sorted(launch.environment.items())
    around = {name: replace(each, pieces=(), place=None) for name, each in names}
    return replace(launch, arguments=words, environment=around)
