"""Bounded reading of the files around a config: whatever they are, it ends soon, or says why."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import read_bytes
from nanolint.source.python import python_tree

if TYPE_CHECKING:
    import ast
    from pathlib import Path

SOURCE_LIMIT = 1 << 20  # bytes of a Python file


def read_source(path: Path) -> str:
    """The decoded text of a Python file. Raises Unusable."""
    from nanolint.source.text import Undecodable, decode

    content = read_bytes(path, SOURCE_LIMIT)
    if b"\0" in content:
        raise Unusable("not a text file")
    try:
        return decode(content).text
    except Undecodable as error:
        raise Unusable(str(error)) from None


@lru_cache(maxsize=16)  # what an editor's config is of: its script, its model, what they import
def syntax_tree(text: str) -> ast.Module:
    """The abstract syntax tree of ``text``, for nobody to change. Raises Unusable."""
    from nanolint.source.scan import check
    from nanolint.source.values import TooComplex

    try:
        check(text)
        return python_tree(text)
    except TooComplex as error:
        raise Unusable(str(error)) from None
    except SyntaxError as error:
        python = "{}.{}".format(*sys.version_info)  # whose words nanolint reads
        why = f"not valid Python {python}: {error.msg}, line {error.lineno}"
        raise Unusable(why) from None
    except (RecursionError, MemoryError, ValueError):
        raise Unusable("too deeply nested, or not text") from None
