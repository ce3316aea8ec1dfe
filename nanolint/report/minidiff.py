"""The lines that a fix would change, before and after."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from nanolint.fixing import apply_edits
from nanolint.report.excerpt import GUTTER_STYLE, clipped
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.diagnostics import Edit
    from nanolint.report.printer import Segment


def minidiff(text: str, edits: Iterable[Edit], gutter: int) -> Iterator[list[Segment]]:
    """The styled lines of the difference, each with its number, without context."""
    before, after = _lines(text), _lines(apply_edits(text, edits))
    for tag, old, old_end, new, new_end in difflib.SequenceMatcher(
        None, before, after
    ).get_opcodes():
        if tag != "equal":
            yield from _numbered(before, old, old_end, gutter, "-", "red")
            yield from _numbered(after, new, new_end, gutter, "+", "green")


def _lines(text: str) -> list[str]:
    lines = LineIndex(text)
    return [lines.line(row) for row in range(1, lines.last_row + 1)]


def _numbered(
    lines: list[str], start: int, end: int, gutter: int, sign: str, style: str
) -> Iterator[list[Segment]]:
    for row in range(start, end):
        source = f"{sign} {clipped(lines[row])}".rstrip()
        yield [(f" {row + 1:>{gutter}} ", GUTTER_STYLE), (source, style)]
