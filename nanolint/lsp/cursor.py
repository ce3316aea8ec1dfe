"""What stands at a place of a text that may be half typed: no parser, only lines and strings."""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

# A triple-quoted string that is not closed runs to the end of the text, any other to the end of
# its line.
_SKIPPED = re.compile(
    r"""
      (?P<comment>\#[^\r\n]*)
    | (?P<long>'{3}|"{3})(?:\\.|(?!(?P=long)).)*(?:(?P=long)|\Z)
    | (?P<quote>['"])(?:\\[^\r\n]|(?!(?P=quote))[^\\\r\n])*(?P=quote)?
    """,
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile(r"[^\W\d]\w*")
_ASSIGNMENT = re.compile(r"^([^\W\d]\w*)[ \t]*(?::[^=\r\n]*)?=(?!=)", re.MULTILINE)
_KEY_START = re.compile(r"(?:[^\W\d]\w*)?\Z")
_VALUE_START = re.compile(
    r"""(?P<key>[^\W\d]\w*)[ \t]*(?::[^=\r\n'"]*)?=[ \t]*(?P<value>['"]?[\w./:-]*)\Z"""
)
_VALUE_END = re.compile(r"""[\w./:-]*['"]?""")


class Kind(Enum):
    """What could be typed at a place."""

    KEY = "key"  # a name at the start of a line
    VALUE = "value"  # the one word behind ``key =``
    COMMENT = "comment"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place between two characters.

    ``span`` is the word that it stands in, quotes included, which a completion replaces;
    ``key`` is the key that a value belongs to. ``has_value``: an equals sign follows a key.
    """

    kind: Kind
    span: Span
    key: str = ""
    has_value: bool = False


def cursor_at(text: str, offset: int) -> Cursor:
    """What stands around ``offset``."""
    start, end = line_around(text, offset)
    skipped = _skipped_at(text, offset)
    if skipped is not None and text.startswith("#", skipped.start):
        return Cursor(Kind.COMMENT, skipped)
    if skipped is not None and skipped.start < start:
        return Cursor(Kind.OTHER, Span(offset, offset))  # in a string of several lines
    before = text[start:offset]
    if _KEY_START.match(before):
        word = _NAME.match(text, start)
        stop = max(offset, word.end() if word else start)
        has_value = text[stop:end].lstrip(" \t").startswith(("=", ":"))
        return Cursor(Kind.KEY, Span(start, stop), has_value=has_value)
    value = _VALUE_START.match(before)
    rest = _VALUE_END.match(text, offset)
    if value is None or rest is None:
        return Cursor(Kind.OTHER, Span(offset, offset))
    return Cursor(Kind.VALUE, Span(start + value.start("value"), rest.end()), value["key"])


def name_at(text: str, offset: int) -> tuple[str, Span] | None:
    """The variable that ``offset`` touches; None in comments and strings, and for attributes."""
    start, end = line_around(text, offset)
    for word in _NAME.finditer(text, start, end):
        if word.start() <= offset <= word.end():
            is_attribute = text[start : word.start()].rstrip(" \t").endswith(".")
            if is_attribute or _skipped_at(text, word.start() + 1) is not None:
                return None
            return word[0], Span(word.start(), word.end())
    return None


def assignment_line(text: str, key: str) -> Span | None:
    """The line that sets ``key`` last, in a text that a parser may refuse; without its newline."""
    starts = [match.start() for match in _assignments(text) if match[1] == key]
    return Span(*line_around(text, starts[-1])) if starts else None


def assigned_keys(text: str) -> frozenset[str]:
    """The names that lines of ``text`` set."""
    return frozenset(match[1] for match in _assignments(text))


def comment_on_line(text: str, offset: int) -> Span | None:
    """The comment at the end of the line of ``offset``, its ``#`` included."""
    _, end = line_around(text, offset)
    skipped = _skipped_at(text, end)
    return skipped if skipped is not None and text.startswith("#", skipped.start) else None


def _assignments(text: str) -> Iterator[re.Match[str]]:
    for match in _ASSIGNMENT.finditer(text):
        if _skipped_at(text, match.start() + 1) is None:
            yield match


def line_around(text: str, offset: int) -> tuple[int, int]:
    """Where the line of ``offset`` starts, and where it ends before its newline."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    ends = [found for newline in "\r\n" if (found := text.find(newline, offset)) >= 0]
    return start, min(ends, default=len(text))


def _skipped_at(text: str, offset: int) -> Span | None:
    """The comment or string that ``offset`` stands in, behind its first character."""
    skipped = _skipped(text)
    index = bisect_left(skipped, offset, key=lambda each: each[0].start) - 1
    if index < 0:
        return None
    span, is_closed = skipped[index]
    return span if offset < span.end or (offset == span.end and not is_closed) else None


@lru_cache(maxsize=4)
def _skipped(text: str) -> tuple[tuple[Span, bool], ...]:
    """The comments and strings of ``text``, and whether code goes on right behind them."""
    return tuple(
        (Span(match.start(), match.end()), _is_closed(match)) for match in _SKIPPED.finditer(text)
    )


def _is_closed(match: re.Match[str]) -> bool:
    if match.lastgroup == "comment":
        return False
    quotes = match["long"] or match["quote"]
    return len(match[0]) >= 2 * len(quotes) and match[0].endswith(quotes)
