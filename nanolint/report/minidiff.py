"""The lines that a fix would change, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import Edit
from nanolint.report.excerpt import GUTTER_STYLE, clipped
from nanolint.source.edits import apply_edits
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.report.printer import Segment


def minidiff(
    text: str, lines: LineIndex, edits: Iterable[Edit], room: int
) -> Iterator[list[Segment]]:
    """The styled lines of the difference, each with its number, without context.

    ``lines`` are those of ``text``. Only the lines that the edits touch are looked at.
    """
    from difflib import SequenceMatcher  # where there is a fix

    gutter = len(str(lines.last_row))
    added = 0  # lines, by the edits above
    for first, last, inside in _stretches(sorted(edits), lines):
        start = lines.offset(first, 1)
        old = text[start : lines.offset(last, lines.length(last) + 1)]
        moved = [Edit(e.start - start, e.end - start, e.replacement) for e in inside]
        before, after = _lines(old), _lines(apply_edits(old, moved))
        changes = SequenceMatcher(None, before, after).get_opcodes()
        for tag, old_start, old_end, new_start, new_end in changes:
            if tag == "equal":
                continue
            gone, come = before[old_start:old_end], after[new_start:new_end]
            focus = _first_difference("".join(gone), "".join(come))
            for sign, style, changed, row in (
                ("-", "red", gone, first + old_start),
                ("+", "green", come, first + added + new_start),
            ):
                for number, line in enumerate(changed, start=row):
                    source = f"{sign} {clipped(line, focus, room)}".rstrip()
                    yield [(f" {number:>{gutter}} ", GUTTER_STYLE), (source, style)]
        added += len(after) - len(before)


def _stretches(edits: Iterable[Edit], lines: LineIndex) -> Iterator[tuple[int, int, list[Edit]]]:
    """The first and the last row of each stretch of lines that edits change, with its edits."""
    inside: list[Edit] = []
    first = last = 0
    for edit in edits:
        start, end = lines.position(edit.start)[0], lines.position(edit.end)[0]
        if inside and start > last:
            yield first, last, inside
            inside = []
        first = first if inside else start
        last = max(end, last)
        inside.append(edit)
    if inside:
        yield first, last, inside


def _first_difference(a: str, b: str) -> int:
    pairs = enumerate(zip(a, b, strict=False))
    return next((index for index, (x, y) in pairs if x != y), min(len(a), len(b)))


def _lines(text: str) -> list[str]:
    lines = LineIndex(text)
    return [lines.line(row) for row in range(1, lines.last_row + 1)]
