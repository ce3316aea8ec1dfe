"""The PyTorch version that a project asks for: of its lock, requirements or environment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from nanolint.errors import Unusable
from nanolint.files.door import is_file, names, read_bytes
from nanolint.files.notes import memo
from nanolint.files.repository import upward

if TYPE_CHECKING:
    from pathlib import Path

Version: TypeAlias = tuple[int, int]

# The newest stable release, and the newest that the memory model was compared with: what a project
# that names no release is judged by.
NEWEST = (2, 15)
MOST_BYTES = 4 << 20
MOST_FILES = 20

# What names the one version comes first, then what is installed, then what is only a bound.
_LOCKED = re.compile(r'^name = "torch"\s+version = "(\d+)\.(\d+)', re.MULTILINE)
_CONDA = re.compile(r"^\s*-\s*(?:[\w-]+::)?(?:py)?torch\s*==?\s*(\d+)\.(\d+)", re.MULTILINE)
_TORCH = r"^torch\s*(?:\[[^]]*\]\s*)?"
_PINNED = re.compile(_TORCH + r"===?\s*(\d+)\.(\d+)", re.MULTILINE)
_REQUIRED = re.compile(_TORCH + r"(?:~=|>=)\s*(\d+)\.(\d+)", re.MULTILINE)
_PINNED_IN_PYPROJECT = re.compile(r"""["']torch\s*===?\s*(\d+)\.(\d+)""")
_IN_PYPROJECT = re.compile(
    r"""["']torch\s*(?:~=|>=)\s*(\d+)\.(\d+)|^torch\s*=\s*["'][\^~>=\s]*(\d+)\.(\d+)""",
    re.MULTILINE,
)
_EXACT = (
    ("uv.lock", _LOCKED),
    ("poetry.lock", _LOCKED),
    ("pdm.lock", _LOCKED),
    ("requirements*.txt", _PINNED),
    ("pyproject.toml", _PINNED_IN_PYPROJECT),
    ("environment*.yml", _CONDA),
    ("environment*.yaml", _CONDA),
)
_BOUNDS = (("requirements*.txt", _REQUIRED), ("pyproject.toml", _IN_PYPROJECT))
_ENVIRONMENTS = (".venv", "venv")
_INSTALLED = re.compile(r"torch-(\d+)\.(\d+).*\.dist-info")


def find_torch_version(folder: Path) -> Version | None:
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
def _in_folder(folder: Path) -> Version | None:
    return _asked(folder, _EXACT) or _installed(folder) or _asked(folder, _BOUNDS)


def _asked(folder: Path, files: tuple[tuple[str, re.Pattern[str]], ...]) -> Version | None:
    for pattern, expression in files:
        for name in names(folder, pattern)[:MOST_FILES]:
            found = [_version(match) for match in expression.finditer(_text(folder / name))]
            if found:
                return min(found)
    return None


def _installed(folder: Path) -> Version | None:
    """That of the environment beside the project, told by the name of a folder in it."""
    for name in _ENVIRONMENTS:
        library = folder / name / "lib"
        homes = [library / python / "site-packages" for python in names(library, "python*")]
        for home in (*homes, folder / name / "Lib" / "site-packages"):
            for each in names(home, "torch-*"):
                match = _INSTALLED.fullmatch(each)
                if match is not None:
                    return _version(match)
    return None


def _version(match: re.Match[str]) -> Version:
    major, minor = (int(number) for number in match.groups() if number is not None)
    return major, minor


def _text(path: Path) -> str:
    try:
        return read_bytes(path, MOST_BYTES).decode("utf-8", "replace")
    except Unusable:
        return ""
