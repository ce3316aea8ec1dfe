"""The kinds of files that hold launch lines, by their names."""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING

from nanolint.launches.launch import MOST_CHARACTERS, Around, no_scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.launches.launch import Found

SHELL_SUFFIXES = (".sh", ".bash", ".zsh", ".slurm", ".sbatch", ".job")
SWEEP_SUFFIXES = (".yaml", ".yml")
MOST_NOTEBOOK_CHARACTERS = 1 << 22  # most of which are pictures
MOST_BYTES = 1 << 22  # of any file


def is_launch_file(name: str) -> bool:
    """Whether a file of that name is read for its launch lines."""
    return _kind(name) is not None


def find_launches(
    name: str, text: str, scripts: Callable[[str], str | None] = no_scripts
) -> Iterator[Found]:
    """The runs that the file called ``name`` starts. Raises ValueError, in one line.

    ``scripts`` gives the text of another shell script that a shell script names, by its path.
    """
    kind = _kind(name)
    assert kind is not None
    most = MOST_NOTEBOOK_CHARACTERS if name.endswith(".ipynb") else MOST_CHARACTERS
    if len(text) > most:
        raise ValueError(f"it has more than {most:,} characters")
    # Most checks ask only whether a file is one of these, and need no reader.
    reader = import_module(f"nanolint.launches.{kind}")
    around = (Around(scripts=scripts),) if kind == "script" else ()
    found: Iterator[Found] = reader.find_launches(text, *around)
    return found


def _kind(name: str) -> str | None:
    """The module of this package that reads a file of that name."""
    path = PurePath(name)
    suffix, base = path.suffix.lower(), path.name.lower()
    if suffix in SHELL_SUFFIXES:
        return "script"
    if suffix == ".ipynb":
        return "notebook"
    if base in ("makefile", "gnumakefile") or suffix == ".mk":
        return "makefile"
    if base == "dockerfile" or base.startswith("dockerfile.") or suffix == ".dockerfile":
        return "dockerfile"
    if suffix in SWEEP_SUFFIXES:
        return "sweep"
    return None
