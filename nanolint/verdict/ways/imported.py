"""A module that a text has to import before it can say what is in it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.verdict.ways.edited import Edit

if TYPE_CHECKING:
    from nanolint.verdict.ways.edited import Text


def imported(text: Text, module: str) -> Edit | None:
    """The import, on a line that has one; None where the text imports nothing by itself."""
    for each in text.tree.body:
        future = isinstance(each, ast.ImportFrom) and each.module == "__future__"
        if isinstance(each, (ast.Import, ast.ImportFrom)) and not future:
            end = text.span(each).end
            return Edit(end, end, f"; import {module}")
    return None
