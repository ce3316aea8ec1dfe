"""Python's own tree of a text, parsed once for all who ask."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache


@lru_cache(maxsize=16)  # a script, what it imports, and our own texts beside them
def python_tree(text: str) -> ast.Module:
    """The tree of ``text``, for nobody to change. Raises what ``ast.parse`` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are the author's business
        return ast.parse(text)
