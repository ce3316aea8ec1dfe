"""Which settings file a card is written into, and the edit that an editor is asked to make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import Edit
from nanolint.errors import Unusable
from nanolint.files.door import read_bytes
from nanolint.frozen import dataclass
from nanolint.lsp.settings_edit import NotEditable, new_file, with_gpu
from nanolint.settings.schema import FILE_NAMES, MOST_BYTES, discover
from nanolint.trainers.nanogpt.project import find_project

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """An edit of the settings file ``path``, whose text is ``text``; ``is_new``: to be created."""

    path: Path
    text: str
    edit: Edit
    is_new: bool = False


def settings_edit(config: Path, gpu: str) -> SettingsEdit:
    """What makes ``gpu`` the target of ``config`` in the nearest settings file.

    Without any, a nanolint.toml beside train.py, or beside the config where there is none.
    Raises NotEditable, and SettingsError for settings that cannot be read at all.
    """
    file = discover(config.absolute().parent).file
    if file is None:
        folder = find_project(config).root or config.absolute().parent
        return SettingsEdit(folder / FILE_NAMES[0], "", Edit(0, 0, new_file(gpu)), is_new=True)
    try:
        text = read_bytes(file, MOST_BYTES).decode()
    except (Unusable, UnicodeDecodeError) as error:
        raise NotEditable(f"{file.name}: {error}") from None
    return SettingsEdit(file, text, with_gpu(file, text, gpu))
