"""The PyTorch version that a project asks for, read from its lock or requirements files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import is_file, names, read_bytes
from nanolint.files.notes import memo
from nanolint.files.repository import upward

if TYPE_CHECKING:
    from pathlib import Path

# The newest stable release, and the newest that the memory model was compared with: what a project
# that names no release is judged by.
NEWEST = (2, 15)
MOST_BYTES = 4 << 20
MOST_FILES = 20

# First a lock, which names the one version; then what is only a bound.
_LOCKED = re.compile(r'^name = "torch"\s+version = "(\d+)\.(\d+)', re.MULTILINE)
_REQUIRED = re.compile(r"^torch\s*(?:\[[^]]*\]\s*)?(?:===?|~=|>=)\s*(\d+)\.(\d+)", re.MULTILINE)
_IN_PYPROJECT = re.compile(
    r"""["']torch\s*(?:===?|~=|>=)\s*(\d+)\.(\d+)|^torch\s*=\s*["'][\^~>=\s]*(\d+)\.(\d+)""",
    re.MULTILINE,
)
_FILES = (
    ("uv.lock", _LOCKED),
    ("poetry.lock", _LOCKED),
    ("requirements*.txt", _REQUIRED),
    ("pyproject.toml", _IN_PYPROJECT),
)


def find_torch_version(folder: Path) -> tuple[int, int] | None:
    """The version asked for in ``folder`` or above it, inside the same repository.

    Of a range, the lowest version: what is told must hold for every version that is allowed.
    """
    for ancestor in upward(folder):
        version = _in_folder(ancestor)
        if version is not None:
            return version
        if is_file(ancestor / "train.py"):
            return None
    return None


@memo
def _in_folder(folder: Path) -> tuple[int, int] | None:
    for pattern, expression in _FILES:
        for name in names(folder, pattern)[:MOST_FILES]:
            match = expression.search(_text(folder / name))
            if match is not None:
                major, minor = (int(number) for number in match.groups() if number is not None)
                return major, minor
    return None


def _text(path: Path) -> str:
    try:
        return read_bytes(path, MOST_BYTES).decode("utf-8", "replace")
    except Unusable:
        return ""
