"""Who else takes values from a config: files that start from it, and lines that launch it."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.files import door
from nanolint.files.repository import place_below, root_of
from nanolint.frozen import dataclass
from nanolint.regex import lazily
from nanolint.run.takers.launches import TESTS, Asked, changes, launches, may_be_followed
from nanolint.run.takers.neighbours import PYTHON, File, neighbours, read_file
from nanolint.run.takers.python import reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# A folder of these names holds configs, and the project is around it.
CONFIG_FOLDERS = ("config", "configs")
CONFIGURATOR = "configurator.py"
MOST_DEPTH = 64
MOST_NAMED = 3  # takers; one is enough to know

_READS_ITS_ARGUMENTS = lazily(r"\bargv\b|\bargparse\b")


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
    """All that was found around one config, which ``asked`` is about.

    ``others`` are the first few that start from it, ``files`` hold commands that launch it, or may.
    Where ``changed`` finds nothing, no other run of the project changes with a value of the config
    whose effective batch stays.
    """

    others: tuple[Taker, ...] = ()
    asked: Asked | None = None
    files: tuple[File, ...] = ()

    def changed(self, keys: Mapping[str, object], values: Mapping[str, object]) -> list[Taker]:
        """The first few that train otherwise with other ``keys``.

        ``values`` are those that the config has now.
        """
        found = list(self.others)
        for file in sorted(self.files, key=may_be_followed):  # which takes longer
            if self.asked is None or len(found) >= MOST_NAMED:
                break
            found += (Taker(*each) for each in changes(file, self.asked, keys, values))
        return found[:MOST_NAMED]

    @property
    def shared(self) -> Iterator[Shared]:
        """The lines that launch the config on several processes."""
        for file in self.files:
            for each in launches(file, self.asked) if self.asked else ():
                if each.is_shared:
                    yield Shared(f"{file.name}:{each.row}", each.world_size)


def find_takers(
    path: Path | None, train_script: Path | None, scripts: Sequence[Path] = ()
) -> Takers:
    """Who takes values from the config at ``path``: in the project around it, and in ``scripts``.

    Nothing is executed. When in doubt, a file counts.
    """
    if path is None or path.suffix != PYTHON:
        return Takers()
    own = Path(door.place_of(path))
    search = _Search(own, project_folder(own, train_script), _home(own, train_script), train_script)
    around = neighbours(search.root, _depth(own, train_script))
    others = [Taker(place, how) for place, how in around.unsearched]
    elsewhere = (
        read_file(each, place_below(each, Path.cwd()))
        for each in scripts
        if search.root not in each.parents
    )
    asked = Asked(own, search.root, train_script)
    files = [each for each in chain(around.files, elsewhere) if isinstance(each, File)]
    for file in files:
        if file.is_python and file.path != own and len(others) < MOST_NAMED:
            others += search.takers(file)
    holding = tuple(each for each in files if launches(each, asked))
    return Takers(tuple(others[:MOST_NAMED]), asked, holding)


@dataclass(frozen=True, slots=True)
class _Search:
    """For whom other files are searched, and where: ``home`` is where anything may be executed."""

    own: Path
    root: Path
    home: Path
    train_script: Path | None

    def takers(self, file: File) -> Iterator[Taker]:
        """The first place of a Python file that starts from the config."""
        named = file.mentions(self.own.stem)
        near = self._may_execute_anything(file)
        if not named and not near:
            return
        found = reach(file.text)
        launched = {r for each in file.commands for r in range(each.row, each.last_row + 1)}
        rows = [
            row
            for name, row in found.names
            if named and name.means(self.own) and not self._is_another(name.parts, file)
            if row not in launched  # which train.py executes: a run of its own
        ]
        if rows:
            yield Taker(f"{file.name}:{min(rows)}", "starts from this file, or runs it")
        elif near and found.open_ended is not None:
            yield Taker(f"{file.name}:{found.open_ended}", "may execute any file of the project")

    def _may_execute_anything(self, file: File) -> bool:
        """Whether the file may execute this one, but for programs that are told what to execute.

        What those execute is named by whoever launches them: a run of its own. And nobody keeps
        what a test trains.
        """
        if file.path == self.train_script or file.path.name == CONFIGURATOR:
            return False
        if TESTS.intersection(file.name.split("/")) or self.home not in file.path.parents:
            return False
        if not file.is_open_ended:
            return False
        among_configs = file.path.parent.name in CONFIG_FOLDERS
        return among_configs or _READS_ITS_ARGUMENTS.search(file.text) is None

    def _is_another(self, parts: tuple[str, ...], file: File) -> bool:
        """Whether a path or a dotted name in ``file`` leads to another file of the same name."""
        if len(parts) > 1 and self.own.with_suffix("").parts[-len(parts) :] == parts:
            return False
        for place in (file.path.parent, self.root):
            path = place.joinpath(*parts).with_suffix(PYTHON)
            if path == self.own:
                return False
            if door.is_file(path):
                return door.real(path) != door.real(self.own)
        return False


def project_folder(path: Path, train_script: Path | None) -> Path:
    """The folder of the repository, else of the training script, else that around ``config/``."""
    own = Path(door.place_of(path))
    return root_of(own.parent) or _home(own, train_script)


def _depth(own: Path, train_script: Path | None) -> int:
    """How many folders down to search: without a project, nothing says where it would end."""
    if root_of(own.parent) is not None or train_script is not None:
        return MOST_DEPTH
    return 1 if own.parent.name in CONFIG_FOLDERS else 0


def _home(own: Path, train_script: Path | None) -> Path:
    """The folder in which a file that executes anything may execute the config."""
    if train_script is not None and train_script.parent in own.parents:
        return train_script.parent
    return own.parent.parent if own.parent.name in CONFIG_FOLDERS else own.parent
