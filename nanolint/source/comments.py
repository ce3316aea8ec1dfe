"""The comments of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanolint.diagnostics import Span
from nanolint.source.assignments import Comment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.source.text import LineIndex


def comments(
    positions: Mapping[cst.CSTNode, tuple[int, int]], text: str, lines: LineIndex
) -> Iterator[Comment]:
    """The comments among the nodes of a tree, in order."""
    for node, (start, end) in positions.items():
        if not isinstance(node, cst.Comment):
            continue
        row, column = lines.position(start)
        own_line = not lines.line(row)[: column - 1].strip(" \t\f\ufeff")
        # The tree may have a form feed behind a comment where the text has a newline.
        comment = text[start:end].rstrip("\r\n")
        yield Comment(comment, Span(start, start + len(comment)), own_line)
