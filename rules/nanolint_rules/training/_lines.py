"""Findings on a line of the loop, and fixes that add a line next to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.rule import Edit, Finding, Fix, Safety, elsewhere, is_here, span_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.rule import Context, Line, Severity

MOST_SHOWN = 3  # lines of other files, among the notes
_STATEMENT = re.compile(r"[^\S\n]*([\w.]+(?: = [\w.]+)?\([^()]*(?:\([^()]*\)[^()]*)*\))\s*(#.*)?")


def found_at(
    context: Context,
    lines: Sequence[Line],
    message: str,
    *,
    does: str,
    remedy: str,
    fix: Fix | None = None,
    severity: Severity | None = None,
) -> Finding:
    """A finding on the innermost of ``lines`` that the file has; a line of another file ``does``
    it."""
    others = tuple(elsewhere(context, lines, does))
    return Finding(
        message=message,
        span=span_of(context, lines),
        remedy=remedy,
        fix=fix,
        severity=severity,
        notes=tuple(map(str, others[:MOST_SHOWN])),
        holders=others,
    )


def line_beside(
    context: Context, lines: Sequence[Line], text: str, *, above: bool = False
) -> Fix | None:
    """The fix that puts a statement ``text`` next to the innermost line; None if that is not in
    the file, or is no statement of its own."""
    line = lines[0] if lines else None
    rows = context.text.split("\n")
    if line is None or not is_here(context, line) or line.number > len(rows):
        return None
    row = rows[line.number - 1]
    if _STATEMENT.fullmatch(row.rstrip()) is None:
        return None
    indent = row[: len(row) - len(row.lstrip())]
    start = context.lines.offset(line.number, 1)
    at = start if above else start + len(row.rstrip("\r"))
    end = "\r\n" if row.endswith("\r") else "\n"
    edit = Edit(at, at, f"{indent}{text}{end}" if above else f"{end}{indent}{text}")
    return Fix(f"add {text}", Safety.UNSAFE, (edit,))
