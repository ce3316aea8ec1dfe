"""The comments of a Python file, found without its syntax tree."""

from __future__ import annotations

import io
import re
import tokenize

from nanolint.diagnostics import Span
from nanolint.source.assignments import Comment

# What splits lines for the tokenizer, or is dropped by it, otherwise than by libcst.
_UNUSUAL = re.compile("\r(?!\n)|[\f\v\0\ufeff\x1c-\x1e\x85\u2028\u2029]")


def comments_of(text: str) -> tuple[Comment, ...] | None:
    """The comments in order; None where only a parser tells where they stand."""
    if _UNUSUAL.search(text):
        return None
    lines = text.splitlines(keepends=True)
    starts, found, offset = [], [], 0
    for line in lines:
        starts.append(offset)
        offset += len(line)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                start = starts[row - 1] + column
                comment = token.string.rstrip("\r\n")
                own_line = not lines[row - 1][:column].strip()
                found.append(Comment(comment, Span(start, start + len(comment)), own_line))
    except (tokenize.TokenError, SyntaxError, IndexError):
        return None
    return tuple(found)
