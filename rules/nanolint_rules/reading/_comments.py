"""Edits that take codes, or all of it, out of a suppression comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nanolint.rule import Edit, Fix, Safety

if TYPE_CHECKING:
    from collections.abc import Collection

    from nanolint.rule import Context, Suppression


class Removal(NamedTuple):
    """An edit that takes something out of a suppression. ``loses`` are words of its author's."""

    edit: Edit
    loses: str = ""

    def fix(self, title: str) -> Fix:
        """The edit as a fix, which is not safe where words go with it."""
        return Fix(title, Safety.UNSAFE if self.loses else Safety.SAFE, (self.edit,))

    @property
    def notes(self) -> tuple[str, ...]:
        """Why it is unsafe."""
        return ("unsafe: it also removes the reason in the comment",) if self.loses else ()


def without(context: Context, suppression: Suppression, unwanted: Collection[str]) -> Removal:
    """Take the codes ``unwanted`` out of a suppression; the whole comment when none would stay."""
    kept = [code.text for code in suppression.codes if code.text not in unwanted]
    if not kept:
        return Removal(_without_comment(context.text, suppression), suppression.reason)
    first, last = suppression.codes[0].span, suppression.codes[-1].span
    return Removal(Edit(first.start, last.end, ", ".join(kept)))


def _without_comment(text: str, suppression: Suppression) -> Edit:
    """Remove a comment with the space before it, and its line where it stands alone."""
    span = suppression.span
    line_start = text.rfind("\n", 0, span.start) + 1
    line_start = max(line_start, text.rfind("\r", line_start, span.start) + 1)
    before = text[line_start : span.start]
    if before.strip():
        return Edit(line_start + len(before.rstrip(" \t")), span.end, "")
    newline = re.compile(r"\r\n|\r|\n").match(text, span.end)
    if newline:
        return Edit(line_start, newline.end(), "")
    return Edit(len(text[:line_start].removesuffix("\n").removesuffix("\r")), span.end, "")
