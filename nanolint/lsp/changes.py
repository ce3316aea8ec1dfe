"""The edits that make one text of another: few and small, so that cursors and folds stay."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from nanolint.diagnostics import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator


def changes(before: str, after: str) -> tuple[Edit, ...]:
    """Edits of ``before``, in its order, that do not touch one another."""
    return tuple(_changes(before, after))


def _changes(before: str, after: str) -> Iterator[Edit]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag != "equal":
            yield _trimmed(before, starts[first], starts[last], "".join(new[new_first:new_last]))


def _trimmed(text: str, start: int, end: int, replacement: str) -> Edit:
    """The edit without what it would put back at either end."""
    while start < end and replacement and text[start] == replacement[0]:
        start, replacement = start + 1, replacement[1:]
    while start < end and replacement and text[end - 1] == replacement[-1]:
        end, replacement = end - 1, replacement[:-1]
    return Edit(start, end, replacement)
