"""The files of a project that may start, import or execute others: code and launch scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files import door
from nanolint.files.notes import memo
from nanolint.files.patterns import place_below
from nanolint.frozen import dataclass
from nanolint.run.takers.python import may_reach_anything

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = ".py"
# What people write launch lines into, by the ends of their names. Prose names configs too, but
# starts nothing.
LAUNCH_SCRIPTS = (
    *(".sh", ".bash", ".zsh", ".slurm", ".sbatch", ".job", ".pbs", ".bat", ".cmd", ".ps1"),
    *(
        ".mk",
        ".ipynb",
        ".yaml",
        ".yml",
        ".toml",
        ".dockerfile",
        "akefile",
        "Dockerfile",
        "justfile",
    ),
)

MOST_FOLDERS = 2_000
MOST_FILES = 4_000
MOST_BYTES = 1 << 20  # of a file; a script is a few pages
MOST_NOTEBOOK_BYTES = 1 << 23  # pictures and all

# Environments, copies that tools keep, and what version control keeps, are not of the project.
_STRANGERS = frozenset({"__pycache__", "node_modules", "site-packages", "wandb", "venv"})
_HIDDEN_BUT_OURS = frozenset({".github"})


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was found; ``name`` is its path below the folder that was searched.

    ``is_open_ended``: what it executes or launches need not be named in it.
    """

    path: Path
    name: str
    text: str
    is_open_ended: bool

    def mentions(self, name: str) -> bool:
        """Whether ``name`` stands in the text by itself, and not as a part of a longer one."""
        at = self.text.find(name)
        while at >= 0:
            before, after = self.text[at - 1 : at], self.text[at + len(name) : at + len(name) + 1]
            if not any(each.isalnum() or each == "_" for each in (before, after)):
                return True
            at = self.text.find(name, at + 1)
        return False

    @property
    def is_python(self) -> bool:
        """Whether it is code, and not a script that launches code."""
        return self.name.endswith(PYTHON)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The files, and for each that was not searched its name with the reason, as a clause."""

    files: tuple[File, ...]
    unsearched: tuple[tuple[str, str], ...]


@memo
def neighbours(root: Path, depth: int) -> Neighbours:
    """The code and the launch scripts in ``root`` and ``depth`` folders down, by their paths."""
    files: list[File] = []
    unsearched: list[tuple[str, str]] = []
    folders = [(root, depth)]
    searched = 0
    while folders:
        folder, down = folders.pop()
        searched += 1
        if searched > MOST_FOLDERS or len(files) > MOST_FILES:
            unsearched.append((f"{root.name}/", "has more files than are searched"))
            break
        try:
            entries = door.entries(folder, PYTHON, *LAUNCH_SCRIPTS)
        except OSError:
            continue
        below = []
        for name, is_folder in entries:
            if is_folder:
                if down and not _is_strange(name):
                    below.append((folder / name, down - 1))
                continue
            found = read_file(folder / name, root)
            if isinstance(found, File):
                files.append(found)
            elif name.endswith(PYTHON):
                unsearched.append((place_below(folder / name, root), found))
        folders += reversed(below)
    return Neighbours(tuple(files), tuple(unsearched))


def _is_strange(folder: str) -> bool:
    hidden = folder.startswith(".") and folder not in _HIDDEN_BUT_OURS
    return hidden or folder in _STRANGERS


@memo
def read_file(path: Path, root: Path) -> File | str:
    """The file, named by its way from ``root``, or why it was not searched, as a clause."""
    limit = MOST_NOTEBOOK_BYTES if path.suffix == ".ipynb" else MOST_BYTES
    try:
        content = door.read_bytes(path, limit)
    except Unusable as error:
        return f"is not searched: {error}"
    name = place_below(path, root)
    text = content.decode("utf-8", "replace")
    return File(path, name, text, not name.endswith(PYTHON) or may_reach_anything(text))
