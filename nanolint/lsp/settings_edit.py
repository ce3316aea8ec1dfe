"""Write another target GPU into a settings file: one value changes, nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from nanolint.diagnostics import Edit
from nanolint.errors import UserError
from nanolint.lsp.toml_lines import STRING, home, lines
from nanolint.settings.schema import PYPROJECT
from nanolint.source.settings_text import NoSettings
from nanolint.source.toml_text import load_toml

if TYPE_CHECKING:
    from pathlib import Path

_VALUE = re.compile(rf"{STRING}|\[(?:[ \t\r\n,]|\#[^\r\n]*|{STRING})*\]")


class NotEditable(UserError):
    """A settings file in which the GPU cannot be changed; the text is one line for the user."""


def with_gpu(path: Path, text: str, gpu: str) -> Edit:
    """What makes ``gpu`` the target in the settings file ``path``, whose text is given.

    Comments and every other value stay. Raises NotEditable: the file is not valid, its ``target``
    tables decide, or the value is spelled in an unusual way.
    """
    before = _own_table(path, text)
    if "target" in before:
        raise NotEditable(f"{path.name}: its target tables name the card; change it there")
    edit = _edit(path, text, f'"{gpu}"')
    changed = text[: edit.start] + edit.replacement + text[edit.end :]
    if _own_table(path, changed) != {**before, "gpu": gpu}:
        raise NotEditable(f"{path.name} sets gpu in a way that only a person can change")
    return edit


def new_file(gpu: str) -> str:
    """The content of a nanolint.toml that says no more than the target."""
    return f'gpu = "{gpu}"\n'


def _edit(path: Path, text: str, literal: str) -> Edit:
    newline = "\r\n" if "\r\n" in text else "\n"
    table = home(path)
    own = [line for line in lines(text) if line.table == table]
    for line in own:
        value = _VALUE.match(text, line.value) if line.key == "gpu" else None
        if value is not None:
            return Edit(value.start(), value.end(), literal)
    header = next((line for line in own if line.is_header), None)
    if header is not None:
        return Edit(header.end, header.end, f"{newline}gpu = {literal}")
    if not table:
        return Edit(0, 0, f"gpu = {literal}{newline}")
    raise NotEditable(f"{path.name} has no table [{table}] to write into")


def _own_table(path: Path, text: str) -> dict[str, Any]:
    try:
        table: Any = load_toml(text)
    except NoSettings as error:
        raise NotEditable(f"{path.name}: {error}") from None
    if path.name == PYPROJECT:
        tool = table.get("tool")
        table = tool.get("nanolint") if isinstance(tool, dict) else None
    if not isinstance(table, dict):
        raise NotEditable(f"{path.name} has no settings of nanolint's")
    return table
