"""The repository that a file lies in: where looking upward ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.files.door import exists

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
