"""The kinds of files that hold launch lines, by their names."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from nanolint.launches.found import MOST_CHARACTERS, Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHELL_SUFFIXES = (".sh", ".bash", ".zsh", ".slurm", ".sbatch", ".job")
SWEEP_SUFFIXES = (".yaml", ".yml")
MOST_NOTEBOOK_CHARACTERS = 1 << 22  # most of which are pictures
MOST_BYTES = 1 << 22  # of any file


def is_launch_file(name: str) -> bool:
    """Whether a file of that name is read for its launch lines."""
    return _reader(name) is not None


def find_launches(name: str, text: str) -> Iterator[Found]:
    """The runs that the file called ``name`` starts. Raises ValueError, in one line."""
    reader = _reader(name)
    assert reader is not None
    most = MOST_NOTEBOOK_CHARACTERS if name.endswith(".ipynb") else MOST_CHARACTERS
    if len(text) > most:
        raise ValueError(f"it has more than {most:,} characters")
    return reader(text)


def _reader(name: str) -> Callable[[str], Iterator[Found]] | None:
    from nanolint.launches import dockerfile, makefile, notebook, script, sweep

    path = PurePath(name)
    suffix, base = path.suffix.lower(), path.name.lower()
    if suffix in SHELL_SUFFIXES:
        return script.find_launches
    if suffix == ".ipynb":
        return notebook.find_launches
    if base in ("makefile", "gnumakefile") or suffix == ".mk":
        return makefile.find_launches
    if base == "dockerfile" or base.startswith("dockerfile.") or suffix == ".dockerfile":
        return dockerfile.find_launches
    if suffix in SWEEP_SUFFIXES:
        return sweep.find_launches
    return None
