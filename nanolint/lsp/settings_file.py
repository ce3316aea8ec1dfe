"""The settings file in the editor: where it is, its lines while they are half typed, the names of
cards that complete it, and the edit of one value that names another card.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.diagnostics import Edit, Span
from nanolint.errors import Unusable, UserError
from nanolint.files.door import read_bytes
from nanolint.frozen import dataclass
from nanolint.gpus import catalogue
from nanolint.lsp.completion import Completion
from nanolint.settings.schema import FILE_NAMES, MOST_BYTES, PYPROJECT, discover
from nanolint.source.settings_text import NoSettings
from nanolint.source.toml_text import load_toml
from nanolint.trainers.nanogpt.project import find_project
from nanolint.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.gpus.gpu import Gpu

STRING = r"\"(?:\\.|[^\"\\\r\n])*\"|'[^'\r\n]*'"

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_HEADER = re.compile(r"[ \t]*\[\[?([^\]\"'=]*)\]")
_PAIR = re.compile(r"[ \t]*([\w-]+)[ \t]*=[ \t]*")


class Line(NamedTuple):
    """A line from ``start`` to before its newline at ``end``, and the table that it stands in.

    ``key`` is empty for lines that set none; ``value`` is where the value of one that does starts.
    """

    start: int
    end: int
    table: str
    key: str = ""
    value: int = 0
    is_header: bool = False  # it opens its table


def lines(text: str) -> Iterator[Line]:
    """Every line of ``text``. One inside a longer string may look as if it set a key."""
    table, position = "", 0
    while position < len(text):
        match = _LINE.match(text, position)
        assert match is not None  # any text matches
        start, end = match.span(1)
        position = match.end()
        header, pair = _HEADER.match(match[1]), _PAIR.match(match[1])
        if header is not None:
            table = re.sub(r"\s", "", header[1])
            yield Line(start, end, table, is_header=True)
        elif pair is not None:
            yield Line(start, end, table, pair[1], start + pair.end())
        else:
            yield Line(start, end, table)


def home(path: Path) -> str:
    """The table in which nanolint's keys stand in a file of that name; empty for no table."""
    return "tool.nanolint" if path.name == PYPROJECT else ""


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


# What may stand before a name: an open list with others in it. Its own quote comes last.
_BEFORE = re.compile(
    rf"(?:\[(?:[ \t\r\n,]|\#[^\r\n]*[\r\n]|{STRING})*)?(?P<typed>[\"'][^\"'\r\n]*)?"
)
_COUNT = re.compile(r"[\"']?\s*(\d+\s*[x×*]\s*)?")


def complete_settings(path: Path, text: str, offset: int) -> tuple[Completion, ...]:
    """The cards, newest first, where ``text`` at ``offset`` expects the name of one."""
    span = _name_around(path, text, offset)
    if span is None:
        return ()
    typed = text[span.start : offset]
    quote = typed[:1] or '"'
    count = _COUNT.match(typed)
    prefix = (count[1] or "") if count else ""  # 8x stays in front of the name
    return tuple(_cards(span, quote, prefix))


def _cards(span: Span, quote: str, prefix: str) -> Iterator[Completion]:
    for gpu in reversed(catalogue.load()):
        name = f"{quote}{prefix}{gpu.name}{quote}"
        yield Completion(
            f"{prefix}{gpu.name}", span, name, format_bytes(gpu.total_bytes), _described(gpu)
        )


def _described(gpu: Gpu) -> str:
    parts = []
    if gpu.sm_count:
        parts.append(f"{gpu.sm_count} SMs")
    if gpu.compute_capability:
        parts.append("compute capability {}.{}".format(*gpu.compute_capability))
    parts.append("memory estimated" if gpu.estimated else "memory as PyTorch reports it")
    return ", ".join(parts)


def _name_around(path: Path, text: str, offset: int) -> Span | None:
    """The name that ``offset`` stands in, its quotes included; empty where one could begin."""
    above = [line for line in lines(text) if line.start <= offset and (line.key or line.is_header)]
    tables = (home(path), f"{home(path)}.target".removeprefix("."))
    if not above or above[-1].key != "gpu" or above[-1].table not in tables:
        return None
    value = above[-1].value
    before = _BEFORE.fullmatch(text, value, offset) if offset >= value else None
    if before is None:
        return None
    typed = before["typed"]
    if typed is None:
        return Span(offset, offset)
    rest = re.compile(rf"[^\"'\r\n]*{typed[0]}").match(text, offset)
    return Span(offset - len(typed), rest.end() if rest else offset)
