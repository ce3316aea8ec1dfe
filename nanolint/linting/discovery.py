"""Which files to judge: the arguments, and what the folders among them hold."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.files import door
from nanolint.files.door import absolute, reason
from nanolint.files.repository import Ignored, ignored_above, matches
from nanolint.frozen import dataclass
from nanolint.settings.tables import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanolint.settings.schema import Sourced

SUFFIX = ".py"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file to judge, under the name that the user sees. ``explicit``: the user named it."""

    path: Path
    name: str
    explicit: bool


@dataclass(frozen=True, slots=True)
class Discovery:
    """The files found, each once whatever names lead to it.

    ``problems`` are the names of what could not be searched, each with the reason.
    """

    settings_of: Callable[[Path], Sourced]
    force_exclude: bool = False
    candidates: list[Candidate] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def add(self, argument: str) -> None:
        """Find what ``argument``, a file or a folder, stands for."""
        path = Path(argument)
        if self.force_exclude and is_excluded_anywhere(path, self.settings_of(path.parent)):
            return
        try:
            is_folder = path.is_dir()
            path.stat()
        except (OSError, ValueError) as error:  # ValueError: a null byte in the name
            self.problems.append((argument, reason(error)))
            return
        if is_folder:
            for entry in self._walk(path):
                self._add(Candidate(Path(entry), entry, explicit=False))
        else:
            self._add(Candidate(path, argument, explicit=True))

    def _add(self, candidate: Candidate) -> None:
        real = door.real(candidate.path)
        if real not in self._seen:
            self._seen.add(real)
            self.candidates.append(candidate)

    def _walk(self, root: Path) -> Iterator[str]:
        """The Python files below ``root``, in order of their names, links to folders left out."""
        below = [self._entries(root, ignored_above(root))]
        while below:
            for path, ignored in below[-1]:
                if ignored is None:
                    yield str(path)
                else:
                    below.append(self._entries(path, ignored))
                    break
            else:
                below.pop()

    def _entries(self, folder: Path, ignored: Ignored) -> Iterator[tuple[Path, Ignored | None]]:
        """The Python files and folders in ``folder``, the latter with what git ignores there."""
        try:
            entries = door.entries(folder, SUFFIX)
            settings = self.settings_of(folder)
        except OSError as error:
            self.problems.append((str(folder), reason(error)))
            return
        except SettingsError as error:
            self.problems.append((str(folder), f"not checked: {error}"))
            return
        ignored = ignored.enter(folder)
        for name, is_folder in entries:
            path = folder / name
            if not is_excluded(path, settings) and not ignored.covers(path, is_folder=is_folder):
                yield path, ignored if is_folder else None


def discover(
    arguments: Sequence[str],
    settings_of: Callable[[Path], Sourced],
    *,
    force_exclude: bool = False,
) -> Discovery:
    """The files that ``arguments`` stand for; ``force_exclude`` also holds for named files."""
    discovery = Discovery(settings_of, force_exclude)
    for argument in arguments:
        discovery.add(argument)
    return discovery


def is_excluded(path: Path, sourced: Sourced) -> bool:
    """Whether an exclude pattern matches the name of ``path``, or its place below the settings."""
    settings = sourced.settings
    return matches(path, (*settings.exclude, *settings.extend_exclude), sourced.root)


def is_excluded_anywhere(path: Path, sourced: Sourced) -> bool:
    """Whether the settings exclude ``path`` or a folder that it lies in."""
    place = absolute(path)
    return any(
        is_excluded(part, sourced)
        for part in (place, *place.parents)
        if sourced.root in part.parents
    )
