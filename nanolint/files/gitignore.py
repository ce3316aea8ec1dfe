"""What git ignores, so that a folder's generated files are left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import absolute, read_bytes
from nanolint.files.patterns import place_below
from nanolint.files.repository import root_of, upward
from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from pathspec import GitIgnoreSpec

FILE_NAME = ".gitignore"
MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Ignored:
    """The ``.gitignore`` files that hold in one folder, outermost first."""

    specs: tuple[tuple[Path, GitIgnoreSpec], ...] = ()

    def enter(self, folder: Path) -> Ignored:
        """What holds inside ``folder``, whose own file speaks last."""
        try:
            lines = read_bytes(folder / FILE_NAME, MOST_BYTES).decode().splitlines()
        except (Unusable, UnicodeDecodeError):
            return self
        from pathspec import GitIgnoreSpec

        return Ignored((*self.specs, (folder, GitIgnoreSpec.from_lines(lines))))

    def covers(self, path: Path, *, is_folder: bool) -> bool:
        """Whether git ignores ``path``. The innermost file that says anything decides."""
        for folder, spec in reversed(self.specs):
            place = place_below(path, folder)
            verdict = spec.check_file(f"{place}/" if is_folder else place).include
            if verdict is not None:
                return verdict
        return False


def ignored_above(folder: Path) -> Ignored:
    """What holds in ``folder`` because of the folders above it, up to the repository's root."""
    place = absolute(folder)
    ignored = Ignored()
    if root_of(place) is not None:
        for ancestor in reversed([*upward(place)][1:]):
            ignored = ignored.enter(ancestor)
    return ignored
