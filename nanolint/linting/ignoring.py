"""Silence what a text has, finding by finding, with ``# nanolint: ignore[...]`` comments."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from nanolint.diagnostics import Edit
from nanolint.source.suppressions import find, statement_rows
from nanolint.source.text import LineIndex, apply_edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nanolint.diagnostics import Diagnostic
    from nanolint.source.assignments import Comment
    from nanolint.source.suppressions import Suppression

# A syntax error, and what is wrong with suppressions themselves.
UNSILENCEABLE = frozenset({"NL001", "NL002", "NL003"})

_INDENTATION = re.compile(r"[ \t\f]*")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def add_ignores(text: str, diagnostics: Iterable[Diagnostic], comments: Sequence[Comment]) -> str:
    """``text`` with a suppression for each of the ``diagnostics``.

    Codes join a suppression that covers the statement already. Otherwise a comment is added behind
    the statement, or above it where another comment or another line is in the way.
    """
    lines = LineIndex(text)
    statements = statement_rows(text, lines)
    codes: dict[tuple[int, int], dict[str, None]] = {}
    for diagnostic in diagnostics:
        row = lines.position(diagnostic.span.start)[0]
        at = bisect_left(statements, row, key=lambda rows: rows[1])  # the first that ends later
        within = at < len(statements) and statements[at][0] <= row
        rows = statements[at] if within else (row, row)
        codes.setdefault(rows, {})[diagnostic.code] = None
    editor = _Editor(text, lines, comments)
    return apply_edits(text, [editor.edit(rows, sorted(found)) for rows, found in codes.items()])


class _Editor:
    """Finds the place for each suppression."""

    def __init__(self, text: str, lines: LineIndex, comments: Sequence[Comment]) -> None:
        self._text = text
        self._lines = lines
        # Whatever covers a statement ends with it.
        self._by_last_row: dict[int, Suppression] = {}
        for each in find(comments, text):
            if each.kind == "line" and each.codes:
                self._by_last_row.setdefault(each.last_row, each)
        self._commented = {lines.position(comment.span.start)[0] for comment in comments}
        newline = _NEWLINE.search(text)
        self._newline = newline[0] if newline else "\n"

    def edit(self, rows: tuple[int, int], codes: Sequence[str]) -> Edit:
        """The edit that silences ``codes`` in the statement on ``rows``."""
        first, last = rows
        listed = ", ".join(codes)
        suppression = self._by_last_row.get(last)
        if suppression is not None and suppression.covers(first):
            end = suppression.codes[-1].span.end
            return Edit(end, end, f", {listed}")
        comment = f"# nanolint: ignore[{listed}]"
        start = self._lines.offset(first, 1)
        line = self._lines.line(first)
        if first == last and line.strip() and first not in self._commented:
            end = start + len(line.rstrip())
            return Edit(end, end, f"  {comment}")
        indentation = _INDENTATION.match(line)
        above = indentation[0] if indentation else ""
        return Edit(start, start, f"{above}{comment}{self._newline}")
