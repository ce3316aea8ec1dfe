"""Comments behind code keep their column when a fix changes the length of the code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.diagnostics import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanolint.diagnostics import Fix
    from nanolint.source.assignments import Comment
    from nanolint.source.text import LineIndex

USUAL_GAP = 2  # spaces before a comment that is aligned with nothing


def keep_columns(fix: Fix, text: str, behind: Mapping[int, Comment], lines: LineIndex) -> Fix:
    """``fix`` with the spaces before comments changed as well, so that columns stay.

    ``behind``: the comments that stand behind code, by their rows.

    A comment stands in a column where more than two spaces set it off, or where the line above or
    below has a comment in the same. Where there is no room, two spaces are left.
    """
    return replace(fix, edits=tuple(sorted({*fix.edits, *_gaps(fix.edits, text, behind, lines)})))


def _gaps(
    edits: Iterable[Edit], text: str, behind: Mapping[int, Comment], lines: LineIndex
) -> Iterator[Edit]:
    grown: dict[int, int] = {}
    for edit in edits:
        row = lines.position(edit.start)[0]
        comment = behind.get(row)
        if comment is None or edit.end > comment.span.start:
            continue
        if any(end in text[edit.start : edit.end] + edit.replacement for end in "\r\n"):
            continue
        grown[row] = grown.get(row, 0) + len(edit.replacement) - (edit.end - edit.start)
    for row, growth in grown.items():
        start = behind[row].span.start
        before = lines.part(row, 0, lines.position(start)[1] - 1)
        gap = len(before) - len(before.rstrip(" "))
        touched = any(edit.start < start and start - gap < edit.end for edit in edits)
        if growth and gap and not touched and _is_aligned(row, gap, behind, lines):
            yield Edit(start - gap, start, " " * max(gap - growth, min(gap, USUAL_GAP)))


def _is_aligned(row: int, gap: int, behind: Mapping[int, Comment], lines: LineIndex) -> bool:
    def column(at: int) -> int | None:
        comment = behind.get(at)
        return None if comment is None else lines.position(comment.span.start)[1]

    return gap > USUAL_GAP or column(row) in (column(row - 1), column(row + 1))
