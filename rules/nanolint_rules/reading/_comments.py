"""Edits that take codes, or all of it, out of a suppression comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.rule import Edit

if TYPE_CHECKING:
    from collections.abc import Collection

    from nanolint.rule import Context, Suppression


def without(context: Context, suppression: Suppression, unwanted: Collection[str]) -> Edit:
    """Take the codes ``unwanted`` out of a suppression; the whole comment when none would stay."""
    kept = [code.text for code in suppression.codes if code.text not in unwanted]
    if not kept:
        return _without_comment(context.text, suppression)
    first, last = suppression.codes[0].span, suppression.codes[-1].span
    return Edit(first.start, last.end, ", ".join(kept))


def _without_comment(text: str, suppression: Suppression) -> Edit:
    """Remove a comment with the space before it, and its line where it stands alone."""
    span = suppression.span
    line_start = max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1
    if text[line_start : span.start].strip():
        code_end = len(text[: span.start].rstrip(" \t"))
        return Edit(code_end, span.end, "")
    newline = re.compile(r"\r\n|\r|\n").match(text, span.end)
    if newline:
        return Edit(line_start, newline.end(), "")
    return Edit(len(text[:line_start].removesuffix("\n").removesuffix("\r")), span.end, "")
