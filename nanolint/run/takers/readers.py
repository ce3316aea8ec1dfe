"""Which other scripts of a project train with values of a file of settings, or of a module."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.files import door
from nanolint.files.repository import root_of
from nanolint.run.takers.neighbours import neighbours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.takers.neighbours import File

MOST_DEPTH = 64
TRAINS = ".backward("
_IMPORTS = re.compile(r"^[ \t]*(?:from|import)[ \t]+(.+)$", re.MULTILINE)


def other_trainer(of: Path, script: Path) -> str | None:
    """The first script of the project beside ``script`` that trains, and reads ``of`` or a module
    that does; None where there is none. By name: what is put together when it runs is not seen."""
    own = Path(door.place_of(script))
    return next((each.name for each in trainers(of) if each.path != own), None)


def trainers(of: Path) -> Iterator[File]:
    """The scripts of the project that train, and read ``of`` or a module that does."""
    root = root_of(of.parent) or of.parent
    around = neighbours(root, MOST_DEPTH if root_of(of.parent) else 0)
    files = [each for each in around.files if each.is_python]
    reached, waiting = {Path(door.place_of(of))}, [of]
    while waiting:
        path = waiting.pop()
        for file in files:
            if file.path not in reached and _reads(file, path):
                reached.add(file.path)
                waiting.append(file.path)
    yield from (each for each in files if each.path in reached and TRAINS in each.text)


def _reads(file: File, path: Path) -> bool:
    if path.suffix != ".py":
        return file.mentions(path.name)
    return any(path.stem in re.findall(r"\w+", line) for line in _imported(file.text))


def _imported(text: str) -> Iterator[str]:
    return (match[1] for match in _IMPORTS.finditer(text))
