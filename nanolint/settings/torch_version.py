"""The PyTorch version that a project asks for: of its lock, requirements or environment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nanolint.errors import Unusable
from nanolint.files.door import is_file, names, read_bytes
from nanolint.files.repository import upward
from nanolint.regex import lazily

if TYPE_CHECKING:
    from pathlib import Path

Version: TypeAlias = tuple[int, int]

# The newest stable release, and the newest that the memory model was compared with: what a project
# that names no release is judged by.
NEWEST = (2, 15)
MOST_BYTES = 4 << 20
MOST_FILES = 20

# The last release before a first of the next major number.
_LAST_OF = {1: (1, 13), 2: NEWEST}

# What names the one version comes first, then what is installed, then what is only a bound.
_LOCKED = lazily(r'^name = "torch"\s+version = "(\d+\.\d+)', re.MULTILINE)
_CONDA = lazily(r"^\s*-\s*(?:[\w-]+::)?(?:py)?torch\s*([=<>~!][^#\n]*)(?:#.*)?$", re.MULTILINE)
_REQUIRED = lazily(r"^torch\s*(?:\[[^]]*\]\s*)?([=<>~!][^;#\n]*)", re.MULTILINE)
_IN_PYPROJECT = lazily(
    r"""["']torch\s*(?:\[[^]]*\]\s*)?([=<>~!][^"';]*)|"""
    r"""^torch\s*=\s*(?:\{[^\n]*?version\s*=\s*)?["']([\^~<>=!\d][^"'\n]*)""",
    re.MULTILINE,
)
_LOCKS = (("uv.lock", _LOCKED), ("poetry.lock", _LOCKED), ("pdm.lock", _LOCKED))
_REQUIREMENTS = (
    ("requirements*.txt", _REQUIRED),
    ("pyproject.toml", _IN_PYPROJECT),
    ("environment*.yml", _CONDA),
    ("environment*.yaml", _CONDA),
)
# Packages that operations of PyTorch's own kernels need, in any of these files.
_NATIVE = lazily(
    r"""^[^#\n]*?(?:^|[\s"'])(nvidia[-_]cutlass[-_]dsl|nvmath[-_]python)(?![\w-])""", re.MULTILINE
)
# The release that nanolint's texts of transformers are of, and how older ones are asked for.
TRANSFORMERS = 5
_TRANSFORMERS = lazily(
    r"""^\s*(?:-\s*|["'])?transformers(?:\[[^]]*\])?\s*(?:=\s*["'])?(?:>=?\s*[\d.]+\s*,\s*)?(===?|~=|<=?|\^)\s*(\d+)(\.\d+)?"""
    r"""|^name = "transformers"\s+version = (")(\d+)(\.\d+)?""",
    re.MULTILINE,
)
_BETWEEN = lazily(r"\s*,\s*|\s+(?=[<>=~!^])")
_CLAUSE = lazily(r"(===?|~=|!=|<=|>=|<|>|=|\^|~)?\s*(\d+(?:\.(?:\d+|\*))*)")
_ENVIRONMENTS = (".venv", "venv")
_INSTALLED = lazily(r"torch-(\d+)\.(\d+).*\.dist-info")


class Asked(NamedTuple):
    """What a project asks for. ``version`` is the one that is judged, None for the newest there is:
    a bound is no pin. ``oldest`` is the lowest that is allowed, for which advice must hold, too.
    """

    version: Version | None = None
    oldest: Version | None = None


def find_torch_version(folder: Path) -> Asked:
    """What is asked for in ``folder`` or above it, inside the same repository."""
    for ancestor in upward(folder):
        asked = _in_folder(ancestor)
        if asked is not None:
            return asked
        if is_file(ancestor / "train.py"):
            break
    return Asked()


def find_native_packages(folder: Path) -> tuple[tuple[str, str], ...]:
    """The packages of native kernels that a project asks for, each with the file that says so."""
    for ancestor in upward(folder):
        found = _native_in(ancestor)
        if found or is_file(ancestor / "train.py"):
            return found
    return ()


def find_older_transformers(folder: Path) -> str | None:
    """The file of a project that asks for a release of transformers before the one that is known,
    with the release; None if no file does."""
    for ancestor in upward(folder):
        for pattern, _ in (*_LOCKS, *_REQUIREMENTS):
            for name in names(ancestor, pattern)[:MOST_FILES]:
                for match in _TRANSFORMERS.finditer(_text(ancestor / name)):
                    sign, major, minor = match.groups()[:3] if match[1] else match.groups()[3:]
                    if int(major) < TRANSFORMERS + (sign == "<"):
                        below = "below " if sign == "<" else ""
                        return f"{name} asks for transformers {below}{major}{minor or ''}"
        if is_file(ancestor / "train.py"):
            break
    return None


def _native_in(folder: Path) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for pattern, _ in (*_LOCKS, *_REQUIREMENTS):
        for name in names(folder, pattern)[:MOST_FILES]:
            for match in _NATIVE.finditer(_text(folder / name)):
                found.setdefault(match[1].replace("_", "-"), name)
    return tuple(sorted(found.items()))


def _in_folder(folder: Path) -> Asked | None:
    locked = _specified(folder, _LOCKS)
    if locked:
        return min(locked, key=_judged)
    required = _specified(folder, _REQUIREMENTS)
    pinned = [each for each in required if each.version is not None and each.version == each.oldest]
    if pinned:
        return min(pinned, key=_judged)
    installed = _installed(folder)
    if installed is not None:
        return Asked(installed, installed)
    return min(required, key=_judged, default=None)


def _judged(asked: Asked) -> Version:
    return asked.version or NEWEST


def _specified(folder: Path, files: tuple[tuple[str, re.Pattern[str]], ...]) -> list[Asked]:
    """What the first of these files says that says anything."""
    for pattern, expression in files:
        for name in names(folder, pattern)[:MOST_FILES]:
            matches = expression.finditer(_text(folder / name))
            texts = (text for match in matches for text in match.groups() if text is not None)
            found = [each for each in map(read_specifier, texts) if each != Asked()]
            if found:
                return found
    return []


def read_specifier(text: str) -> Asked:
    """What a specifier of pip's, conda's or poetry's allows.

    >>> read_specifier("~=2.4.0")
    Asked(version=(2, 4), oldest=(2, 4))
    >>> read_specifier(">=2.0")
    Asked(version=None, oldest=(2, 0))
    >>> read_specifier(">=2.0,<2.5")
    Asked(version=(2, 4), oldest=(2, 0))
    """
    lowest: Version | None = None
    highest: Version | None = None
    for clause in _BETWEEN.split(text.strip()):
        match = _CLAUSE.match(clause)
        if match is None:
            continue
        operator, parts = match[1] or "==", match[2].split(".")
        numbers = [int(part) for part in parts if part != "*"]
        version = numbers[0], (numbers[1] if len(numbers) > 1 else 0)
        low, high = _bounds(operator, version, len(numbers), patched=any(numbers[2:]))
        lowest = max(filter(None, (lowest, low)), default=None)
        highest = min(filter(None, (highest, high)), default=None)
    if highest is not None and highest >= NEWEST and highest != lowest:
        highest = None
    if lowest is not None and lowest > (highest or NEWEST):
        highest = lowest
    return Asked(highest, lowest)


def _bounds(
    operator: str, version: Version, length: int, *, patched: bool
) -> tuple[Version | None, Version | None]:
    """The lowest and the highest release that a clause allows, as far as it bounds them."""
    if operator == "!=":
        return None, None
    if operator in (">", ">="):
        return version, None
    if operator == "<=" or (operator == "<" and patched):
        return None, version
    if operator == "<":
        return None, _before(version)
    if operator == "^" or length == 1 or (operator == "~=" and length <= 2):
        return version, _before((version[0] + 1, 0))
    return version, version


def _before(version: Version) -> Version:
    """The release before this one."""
    major, minor = version
    return (major, minor - 1) if minor else _LAST_OF.get(major - 1, (major - 1, 0))


def _installed(folder: Path) -> Version | None:
    """That of the environment beside the project, told by the name of a folder in it."""
    for name in _ENVIRONMENTS:
        library = folder / name / "lib"
        homes = [library / python / "site-packages" for python in names(library, "python*")]
        for home in (*homes, folder / name / "Lib" / "site-packages"):
            for each in names(home, "torch-*"):
                match = _INSTALLED.fullmatch(each)
                if match is not None:
                    return int(match[1]), int(match[2])
    return None


def _text(path: Path) -> str:
    try:
        return read_bytes(path, MOST_BYTES).decode("utf-8", "replace")
    except Unusable:
        return ""
