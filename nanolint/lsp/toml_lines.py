"""The lines of a settings file as an editor holds it: TOML that may be half typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nanolint.settings.schema import PYPROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
