"""Shell patterns of the settings, against a path and its place below their folder."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def matches(path: Path, patterns: Sequence[str], root: Path) -> bool:
    """Whether one of the shell patterns matches the name of ``path`` or its place below ``root``.

    ``*`` also matches slashes.
    """
    place = Path(os.path.relpath(path, root)).as_posix()
    return any(fnmatch(path.name, pattern) or fnmatch(place, pattern) for pattern in patterns)
