"""The lines that a fix would change, before and after."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from nanolint.linting.fixing import apply_edits
from nanolint.report.excerpt import GUTTER_STYLE, clipped
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.diagnostics import Edit
    from nanolint.report.printer import Segment


def minidiff(text: str, edits: Iterable[Edit], gutter: int, room: int) -> Iterator[list[Segment]]:
    """The styled lines of the difference, each with its number, without context."""
    before, after = _lines(text), _lines(apply_edits(text, edits))
    changes = difflib.SequenceMatcher(None, before, after).get_opcodes()
    for tag, old, old_end, new, new_end in changes:
        if tag == "equal":
            continue
        focus = _first_difference("".join(before[old:old_end]), "".join(after[new:new_end]))
        for sign, style, lines, start, end in (
            ("-", "red", before, old, old_end),
            ("+", "green", after, new, new_end),
        ):
            for row in range(start, end):
                source = f"{sign} {clipped(lines[row], focus, room)}".rstrip()
                yield [(f" {row + 1:>{gutter}} ", GUTTER_STYLE), (source, style)]


def _first_difference(a: str, b: str) -> int:
    pairs = enumerate(zip(a, b, strict=False))
    return next((index for index, (x, y) in pairs if x != y), min(len(a), len(b)))


def _lines(text: str) -> list[str]:
    lines = LineIndex(text)
    return [lines.line(row) for row in range(1, lines.last_row + 1)]
