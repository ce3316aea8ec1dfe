"""``# nanolint: ignore`` comments: which findings they silence, and on which lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.frozen import dataclass
from nanolint.regex import lazily
from nanolint.source.scan import logical_lines
from nanolint.source.text import LineIndex
from nanolint.source.values import TooComplex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.source.assignments import Comment

_DIRECTIVE = re.compile(r"#\s*nanolint\s*:\s*(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_IGNORE = lazily(r"(?P<kind>ignore-file|ignore)(?![\w-])[ \t]*(?P<list>\[[^\]]*(?P<end>\])?)?")
_CODE = lazily(r"[^\s,\[\]]+")


@dataclass(frozen=True, slots=True)
class SuppressedCode:
    """A code or name between the brackets of a suppression."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment that silences findings on the rows from ``first_row`` to ``last_row``.

    Without ``codes`` it silences all rules. One that is ``malformed``, for the reason given,
    silences nothing: its ``last_row`` is 0. ``reason`` is what its author wrote behind it.
    """

    span: Span
    kind: str  # "line" | "file"
    first_row: int
    last_row: int
    codes: tuple[SuppressedCode, ...] = ()
    malformed: str | None = None
    reason: str = ""

    def covers(self, row: int) -> bool:
        """Whether findings on ``row`` are silenced."""
        return self.first_row <= row <= self.last_row


def find(
    comments: Iterable[Comment], text: str, statements: list[tuple[int, int]] | None = None
) -> tuple[Suppression, ...]:
    """The suppressions among the comments of ``text``, in order.

    ``statements`` are the first and last rows of the statements of a text that is not Python.

    A comment behind code covers the whole statement; one alone on its line covers the next
    statement, and itself; ``ignore-file`` counts above the first statement.
    """
    directives = [
        (comment, match) for comment in comments if (match := _DIRECTIVE.match(comment.text))
    ]
    if not directives:
        return ()
    lines = LineIndex(text)
    if statements is None:
        statements = statement_rows(text, lines)
    return tuple(_suppression(*directive, lines, statements) for directive in directives)


def _suppression(
    comment: Comment,
    directive: re.Match[str],
    lines: LineIndex,
    statements: list[tuple[int, int]],
) -> Suppression:
    row = lines.position(comment.span.start)[0]
    match = _IGNORE.match(directive["rest"])
    if match is None:
        expected = "expected ignore, ignore[CODE, ...] or ignore-file[CODE, ...]"
        return Suppression(comment.span, "line", row, 0, malformed=expected)
    start = comment.span.start + directive.start("rest") + match.start("list")
    codes = tuple(_codes(match["list"] or "", start))
    whole_file = match["kind"] == "ignore-file"
    kind = "file" if whole_file else "line"
    fault = _fault(match, codes)
    if whole_file and statements and statements[0][0] < row:
        fault = fault or "ignore-file must stand above the first statement"
    if fault is not None:
        return Suppression(comment.span, kind, row, 0, codes, fault)
    rows = (1, lines.last_row) if whole_file else _covered(row, comment.own_line, statements)
    reason = directive["rest"][match.end() :].strip()
    return Suppression(comment.span, kind, *rows, codes, reason=reason)


def _fault(match: re.Match[str], codes: tuple[SuppressedCode, ...]) -> str | None:
    if match["list"] is None:
        return None
    if match["end"] is None:
        return "the bracket is not closed"
    return None if codes else "there is no code between the brackets"


def _codes(listed: str, start: int) -> Iterator[SuppressedCode]:
    for code in _CODE.finditer(listed):
        yield SuppressedCode(code[0], Span(start + code.start(), start + code.end()))


def _covered(row: int, own_line: bool, statements: list[tuple[int, int]]) -> tuple[int, int]:
    """The rows of the statement around ``row``; for a comment of its own, of the next one."""
    index = bisect_left(statements, row, key=lambda rows: rows[1])  # the first that ends later
    if index < len(statements):
        first, last = statements[index]
        if first <= row:
            return first, last
        if own_line:
            return row, last
    return row, row


def statement_rows(text: str, lines: LineIndex) -> list[tuple[int, int]]:
    """The first and last row of each statement, those of one line taken together."""
    try:
        found = list(logical_lines(text))
    except TooComplex:
        return []  # such a text has no comments that were read, and no findings
    return [(lines.position(line.start)[0], lines.position(line.end)[0]) for line in found]
