"""Which other configs start from this one, so that a change to it is a change to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.files.door import texts
from nanolint.files.notes import memo

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILES = 500
MAX_BYTES = 1 << 16  # a config is a page of text; what is longer is something else


def inheritors(path: Path | None) -> tuple[str, ...]:
    """The names of the files beside ``path`` that import it or ``exec`` it, sorted."""
    if path is None or path.suffix != ".py":
        return ()
    stem = re.escape(path.stem)
    uses = re.compile(
        rf"^[ \t]*(?:from[ \t]+(?:[\w.]*\.)?{stem}[ \t]+import\b"
        rf"|exec[ \t]*\([ \t]*open[ \t]*\([^)\n]*\b{stem}\.py)",
        re.MULTILINE,
    )
    return tuple(
        name
        for name, text in _neighbours(path.parent)
        if name != path.name and path.stem in text and uses.search(text)
    )


@memo
def _neighbours(folder: Path) -> tuple[tuple[str, str], ...]:
    """The Python files of a folder as (name, text), small regular files only."""
    found = texts(folder, "*.py", MAX_BYTES, MAX_FILES)
    return tuple((name, content.decode("utf-8", "replace")) for name, content in found)
