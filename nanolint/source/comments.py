"""The comments of a Python file, found without its syntax tree."""

from __future__ import annotations

import io
import re
import tokenize

from nanolint.diagnostics import Span
from nanolint.regex import lazily
from nanolint.source.assignments import Comment

# What splits lines for the tokenizer, or is dropped by it, otherwise than by libcst.
_UNUSUAL = lazily("\r(?!\n)|[\f\v\0\ufeff\x1c-\x1e\x85\u2028\u2029]")
# Comments, and the strings that might hold what looks like one; a quote that ends nowhere.
_PARTS = lazily(
    r"""
      (?P<comment>\#[^\r\n]*)
    | (?<!\w)(?P<prefix>[rbuftRBUFT]{1,2})?
      (?P<string>'{3}(?:[^\\]|\\.)*?'{3} | "{3}(?:[^\\]|\\.)*?"{3}
               | '(?:[^'\\\r\n]|\\.)*'  | "(?:[^"\\\r\n]|\\.)*")
    | (?P<stray>['"])
    """,
    re.VERBOSE | re.DOTALL,
)


def comments_of(text: str) -> tuple[Comment, ...] | None:
    """The comments of valid Python in order; None where only a parser tells where they stand."""
    if _UNUSUAL.search(text):
        return None
    found: list[Comment] = []
    for part in _PARTS.finditer(text):
        kind = part.lastgroup
        if kind == "comment":
            start = part.start()
            behind = text[text.rfind("\n", 0, start) + 1 : start]
            found.append(Comment(part[0], Span(start, part.end()), own_line=not behind.strip()))
        elif kind == "stray":
            return None
        elif (
            part["prefix"] and set(part["prefix"]) & set("fFtT") and _holds_strings(part["string"])
        ):
            return _by_tokens(text)
    return tuple(found)


def _holds_strings(literal: str) -> bool:
    """Whether an f-string may hold strings or comments of its own: it ends elsewhere, then."""
    fields = literal.replace("{{", "").replace("}}", "")
    return "#" in literal or fields.count("{") != fields.count("}")


def _by_tokens(text: str) -> tuple[Comment, ...] | None:
    """As Python's own tokenizer finds them, which takes ten times as long."""
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
