"""The repository that a file lies in, and which of its files patterns leave out.

The patterns are those of git, and those of the settings. At a repository looking upward ends.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import absolute, exists, read_bytes
from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

    from pathspec import GitIgnoreSpec


def upward(folder: Path) -> Iterator[Path]:
    """``folder`` and those above it, up to the root of its repository; without one, all."""
    for each in (folder, *folder.parents):
        yield each
        if is_root(each):
            return


def root_of(folder: Path) -> Path | None:
    """The root of the repository that ``folder`` lies in, None where it lies in none."""
    return next(filter(is_root, (folder, *folder.parents)), None)


def is_root(folder: Path) -> bool:
    """Whether ``folder`` is the root of a repository; in a work tree .git is a file."""
    return exists(folder / ".git")


FILE_NAME = ".gitignore"
MOST_BYTES = 1 << 20
_SPECIAL = frozenset("*?[\\")


@dataclass(frozen=True, slots=True)
class Ignored:
    """The ``.gitignore`` files that hold in one folder, outermost first."""

    specs: tuple[tuple[Path, _Patterns], ...] = ()

    def enter(self, folder: Path) -> Ignored:
        """What holds inside ``folder``, whose own file speaks last."""
        try:
            lines = read_bytes(folder / FILE_NAME, MOST_BYTES).decode().splitlines()
        except (Unusable, UnicodeDecodeError):
            return self
        return Ignored((*self.specs, (folder, _Patterns(lines))))

    def may_cover(self, name: str) -> bool:
        """Whether a line may be about what is called ``name``, in a folder that is not ignored."""
        return any(each.may_decide(name) for _, each in self.specs)

    def covers(self, path: Path, *, is_folder: bool) -> bool:
        """Whether git ignores ``path``. The innermost file that says anything decides."""
        for folder, spec in reversed(self.specs):
            place = place_below(path, folder)
            verdict = spec.verdict(f"{place}/" if is_folder else place)
            if verdict is not None:
                return verdict
        return False


class _Patterns:
    """The lines of one ``.gitignore``. Most names need no pathspec: no line is about them."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._spec: GitIgnoreSpec | None = None
        last = {line.strip().lstrip("!").rstrip("/").rpartition("/")[2] for line in lines}
        suffixes = {name for name in last if name.startswith("*") and not _SPECIAL & set(name[1:])}
        self._names = {name for name in last if name and not _SPECIAL & set(name)}
        self._suffixes = tuple(name[1:] for name in suffixes)
        self._decides = bool(last - suffixes - self._names - {""})  # more than names and suffixes

    def may_decide(self, name: str) -> bool:
        """Whether a line may be about a name; most are none of theirs."""
        return self._decides or name in self._names or name.endswith(self._suffixes)

    def verdict(self, place: str) -> bool | None:
        """Whether ``place`` is ignored; None where no line says anything."""
        if not any(map(self.may_decide, place.split("/"))):
            return None
        if self._spec is None:
            from pathspec import GitIgnoreSpec

            self._spec = GitIgnoreSpec.from_lines(self._lines)
        return self._spec.check_file(place).include


def ignored_above(folder: Path) -> Ignored:
    """What holds in ``folder`` because of the folders above it, up to the repository's root."""
    place = absolute(folder)
    ignored = Ignored()
    if root_of(place) is not None:
        for ancestor in reversed([*upward(place)][1:]):
            ignored = ignored.enter(ancestor)
    return ignored


def matches(path: Path, patterns: Sequence[str], root: Path) -> bool:
    """Whether one of ``patterns`` matches ``path``, as .gitignore's do.

    A pattern without a slash is about the name; any other about the place below ``root``, where
    ``*`` stays within one folder and ``**`` does not. One that names a folder matches all in it.
    """
    place = place_below(path, root)
    return any(
        _place_pattern(pattern).match_file(place)
        if "/" in pattern
        else fnmatchcase(path.name, pattern)
        for pattern in patterns
    )


def place_below(path: Path | str, root: Path | str, system: ModuleType = os.path) -> str:
    """Where ``path`` is from ``root``, with slashes on every system.

    ``system`` is what knows about paths there: posixpath or ntpath. On Windows' other drives there
    is no way from one to the other, and the path stays whole.
    """
    try:
        place = system.relpath(path, root)
    except ValueError:
        place = str(path)
    return str(place).replace(system.sep, "/")


@lru_cache(maxsize=256)
def _place_pattern(pattern: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([f"/{pattern.strip('/')}"])
