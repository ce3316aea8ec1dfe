"""Completion in a config: keys with default and meaning, values where they are few, rule codes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.files.door import FOLDER, kind, names
from nanolint.frozen import dataclass
from nanolint.lsp.cursor import Kind, assigned_keys, cursor_at
from nanolint.lsp.hover import default_of, meaning_in
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.configurator import is_train_script
from nanolint.trainers.nanogpt.keys import KEYS
from nanolint.trainers.nanogpt.kind import may_become_config

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from nanolint.lsp.cursor import Cursor
    from nanolint.rule.api import Rule
    from nanolint.run.settled import Project
    from nanolint.source.values import Plain, Value

LONGEST_DEFAULT = 40  # characters
DEVICES = ("cuda", "cuda:0", "cpu", "mps")

_CODE_LIST = re.compile(r"#\s*nanolint\s*:\s*ignore(?:-file)?\s*\[[^\]]*?([\w-]*)\Z", re.IGNORECASE)
_CODE_REST = re.compile(r"[\w-]*")


@dataclass(frozen=True, slots=True)
class Completion:
    """Something to put in the place of ``span``.

    ``snippet`` is ``new_text`` with the part to type over marked as LSP does, ``${1:12}``;
    ``detail`` fits beside the label, ``documentation`` is a sentence or Markdown.
    """

    label: str
    span: Span
    new_text: str
    detail: str = ""
    documentation: str = ""
    snippet: str | None = None
    is_key: bool = False


def complete(
    text: str,
    offset: int,
    project: Project,
    rules: tuple[Rule, ...] = (),
    *,
    path: Path | None = None,
) -> tuple[Completion, ...]:
    """What may stand at ``offset`` of the file ``path``, the likeliest first.

    The text may be half typed. Keys and values are for configs and for the settings of a train.py;
    rule codes for every file.
    """
    cursor = cursor_at(text, offset)
    if cursor.kind is not Kind.COMMENT and not _is_among_settings(text, offset, project, path):
        return ()
    if cursor.kind is Kind.KEY:
        return tuple(_keys(text, cursor, project))
    if cursor.kind is Kind.VALUE:
        return tuple(_values(text, cursor, project))
    if cursor.kind is Kind.COMMENT:
        return tuple(_codes(text, offset, cursor, rules))
    return ()


def _is_among_settings(text: str, offset: int, project: Project, path: Path | None) -> bool:
    if is_train_script(path, project):
        return project.settings_end is None or offset <= project.settings_end
    return may_become_config(text, path, project)


def _keys(text: str, cursor: Cursor, project: Project) -> Iterator[Completion]:
    """In train.py's order, then those of the other scripts; without those that are set already."""
    span = cursor.span
    typed = text[span.start : span.end]
    taken = assigned_keys(text) - {typed}
    ordered = dict.fromkeys((*project.defaults, *sorted(project.known_keys)))
    for key in ordered:
        if key in taken or key not in project.known_keys:
            continue
        whose, default = default_of(key, project)
        literal = _literal(default)
        detail = f"{whose}'s default: {literal or 'depends on the machine'}" if default else ""
        new_text, snippet = key, None
        if not cursor.has_value:
            new_text = f"{key} = {literal}"
            escaped = re.sub(r"([\\$}])", r"\\\1", literal)
            snippet = f"{key} = ${{1:{escaped}}}" if literal else f"{key} = $1"
        yield Completion(
            key, span, new_text, detail, meaning_in(project, key), snippet, is_key=True
        )


def _values(text: str, cursor: Cursor, project: Project) -> Iterator[Completion]:
    span = cursor.span
    typed = text[span.start : span.end]
    quote = typed[:1] if typed[:1] in ("'", '"') else "'"
    _, default = default_of(cursor.key, project)
    for value, remark in _choices(cursor.key, default, project).items():
        if isinstance(value, str):
            new_text = f"{quote}{value}{quote}"
        elif typed[:1] == quote:
            continue
        else:
            new_text = repr(value)
        is_default = isinstance(default, Known) and default.value == value
        detail = ", ".join(filter(None, (remark, "the default" if is_default else "")))
        yield Completion(new_text, span, new_text, detail)


def _choices(key: str, default: Value | None, project: Project) -> Mapping[Plain, str]:
    """The values of ``key`` where they are few, each with a remark."""
    choices = KEYS[key].choices if key in KEYS else None
    if choices is not None:
        return {choice: _REMARKS.get(choice, "") for choice in choices}
    if isinstance(default, Known) and isinstance(default.value, bool):
        return {True: "", False: ""}
    if key == "device":
        return dict.fromkeys(DEVICES, "")
    if key == "dataset" and project.root is not None:
        data = project.root / "data"
        return {name: "" for name in names(data) if kind(data / name) == FOLDER}
    return {}


_REMARKS: Mapping[Plain, str] = {
    "float32": "no mixed precision",
    "bfloat16": "compute capability 8.0 and newer",
    "float16": "with a GradScaler",
    "scratch": "new weights",
    "resume": "from out_dir's checkpoint",
    "gpt2": "124M, from Hugging Face",
    "gpt2-medium": "350M, from Hugging Face",
    "gpt2-large": "774M, from Hugging Face",
    "gpt2-xl": "1558M, from Hugging Face",
}


def _codes(text: str, offset: int, cursor: Cursor, rules: tuple[Rule, ...]) -> Iterator[Completion]:
    """The codes for the brackets of a suppression."""
    match = _CODE_LIST.match(text[cursor.span.start : offset])
    rest = _CODE_REST.match(text, offset)
    if match is None or rest is None:
        return
    span = Span(cursor.span.start + match.start(1), rest.end())
    for rule in rules:
        yield Completion(rule.code, span, rule.code, rule.name, rule.summary)


def _literal(value: Value | None) -> str:
    """``value`` as one writes it in a config; empty where it is not known, or long."""
    if not isinstance(value, Known):
        return ""
    try:
        text = repr(value.value)
    except ValueError:  # an integer longer than Python prints
        return ""
    return text if len(text) <= LONGEST_DEFAULT else ""
