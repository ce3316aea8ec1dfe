"""Checkpoints: whether a script would find one to go on from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.files.door import entries
from nanolint.files.repository import root_of
from nanolint.run.program import CHECKPOINTS, SAVED

if TYPE_CHECKING:
    from pathlib import Path

DEPTH = 3  # of folders that are looked into
MOST_FOLDERS = 200


def starts_afresh(script: Path) -> bool:
    """Whether no checkpoint lies beside ``script``, nor in the repository that it stands in."""
    folder = script.absolute().parent
    return not any(map(_may_have_checkpoint, {folder, root_of(folder) or folder}))


def _may_have_checkpoint(folder: Path) -> bool:
    """Whether a checkpoint lies in ``folder`` or not far below, or that cannot be told."""
    level = [folder]
    seen = 0
    for _ in range(DEPTH):
        below = []
        for each in level:
            seen += 1
            if seen > MOST_FOLDERS:
                return True
            try:
                listed = entries(each, *CHECKPOINTS)
            except OSError:
                return True
            files = ((each / name).relative_to(folder) for name, inner in listed if not inner)
            if any(SAVED.search(name.as_posix()) for name in files):
                return True
            below += [each / name for name, inner in listed if inner and not name.startswith(".")]
        level = below
    return False
