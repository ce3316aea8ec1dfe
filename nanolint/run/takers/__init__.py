"""Who else takes values from a config: files that start from it, and lines that launch it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.files import door
from nanolint.frozen import dataclass
from nanolint.run.takers.launches import Launches, Programs, launches
from nanolint.run.takers.neighbours import PYTHON, File, neighbours, read_file
from nanolint.run.takers.python import may_reach_anything, reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A folder of these names holds configs, and the project is around it.
CONFIG_FOLDERS = ("config", "configs")
CONFIGURATOR = "configurator.py"
MOST_PARENTS = 64

_READS_ITS_ARGUMENTS = re.compile(r"\bargv\b|\bargparse\b")


@dataclass(frozen=True, slots=True)
class Taker:
    """A file that takes, or may take, values from a config, and how, as a clause.

    ``place`` is its path below the folder that was searched, with the line.
    """

    place: str
    how: str


@dataclass(frozen=True, slots=True)
class Shared:
    """A line that launches the config on several processes; None: nobody knows how many."""

    place: str
    world_size: int | None


@dataclass(frozen=True, slots=True)
class Takers:
    """All that was found around one config.

    Where ``others`` is empty, no other run of the project changes with a value of the config
    whose effective batch stays.
    """

    others: tuple[Taker, ...] = ()
    shared: tuple[Shared, ...] = ()


def find_takers(
    path: Path | None, train_script: Path | None, scripts: Sequence[Path] = ()
) -> Takers:
    """Who takes values from the config at ``path``: in the project around it, and in ``scripts``.

    Nothing is executed. When in doubt, a file counts.
    """
    if path is None or path.suffix != PYTHON:
        return Takers()
    own = Path(door.place_of(path))
    root = project_folder(own, train_script)
    around = neighbours(root)
    others = [Taker(place, how) for place, how in around.unsearched]
    shared: list[Shared] = []
    home = _home(own, train_script)
    programs = Programs(own, train_script)
    elsewhere = [read_file(each, Path.cwd()) for each in scripts if root not in each.parents]
    for file in (*around.files, *(each for each in elsewhere if isinstance(each, File))):
        if file.path == own:
            continue
        if file.is_python:
            others += _of_python(file, own, root, home, train_script)
        elif own.stem in file.text or home in file.path.parents:
            found = launches(file.text, file.path.name, programs)
            others += (Taker(f"{file.name}:{row}", how) for row, how in found.changed)
            shared += _shared(file, found)
    return Takers(tuple(others), tuple(shared))


def _shared(file: File, found: Launches) -> Iterator[Shared]:
    return (Shared(f"{file.name}:{row}", size) for row, size in found.shared)


def project_folder(path: Path, train_script: Path | None) -> Path:
    """The folder of the repository, else of the training script, else that around ``config/``."""
    own = Path(door.place_of(path))
    for folder in list(own.parents)[:MOST_PARENTS]:
        if door.exists(folder / ".git"):
            return folder
    return _home(own, train_script)


def _home(own: Path, train_script: Path | None) -> Path:
    """The folder in which a file that executes anything may execute the config."""
    if train_script is not None and train_script.parent in own.parents:
        return train_script.parent
    return own.parent.parent if own.parent.name in CONFIG_FOLDERS else own.parent


def _of_python(
    file: File, own: Path, root: Path, home: Path, train_script: Path | None
) -> Iterator[Taker]:
    """At most one: the first place in ``file`` that takes values, or may."""
    named = own.stem in file.text
    near = (
        home in file.path.parents
        and may_reach_anything(file.text)
        and not _is_program(file, train_script)
    )
    if not named and not near:
        return
    found = reach(file.text)
    rows = [
        row
        for name, row in found.names
        if named and name.means(own) and not _is_another(name.parts, own, (file.path.parent, root))
    ]
    if rows:
        yield Taker(f"{file.name}:{min(rows)}", "starts from this file, or runs it")
    elif near and found.open_ended is not None:
        yield Taker(f"{file.name}:{found.open_ended}", "may execute any file of the project")


def _is_program(file: File, train_script: Path | None) -> bool:
    """Whether what the file executes is what the user names when launching it: a run of its own."""
    if file.path == train_script or file.path.name == CONFIGURATOR:
        return True
    among_configs = file.path.parent.name in CONFIG_FOLDERS
    return not among_configs and _READS_ITS_ARGUMENTS.search(file.text) is not None


def _is_another(parts: tuple[str, ...], own: Path, places: tuple[Path, ...]) -> bool:
    """Whether a path or a dotted name leads to another file of the same name."""
    if own.with_suffix("").parts[-len(parts) :] == parts and len(parts) > 1:
        return False
    for place in places:
        path = place.joinpath(*parts).with_suffix(PYTHON)
        if path == own:
            return False
        if door.is_file(path):
            return door.real(path) != door.real(own)
    return False
