"""Patterns of the settings, against a path and its place below their folder."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import ModuleType

    from pathspec import GitIgnoreSpec


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
