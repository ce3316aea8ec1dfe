"""Patterns of the settings, against a path and its place below their folder."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathspec import GitIgnoreSpec


def matches(path: Path, patterns: Sequence[str], root: Path) -> bool:
    """Whether one of ``patterns`` matches ``path``, as .gitignore's do.

    A pattern without a slash is about the name; any other about the place below ``root``, where
    ``*`` stays within one folder and ``**`` does not. One that names a folder matches all in it.
    """
    place = Path(os.path.relpath(path, root)).as_posix()
    return any(
        _place_pattern(pattern).match_file(place)
        if "/" in pattern
        else fnmatchcase(path.name, pattern)
        for pattern in patterns
    )


@lru_cache(maxsize=256)
def _place_pattern(pattern: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([f"/{pattern.strip('/')}"])
