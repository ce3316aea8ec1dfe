"""What a launch line says of the run that it starts."""

from __future__ import annotations

import os
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
