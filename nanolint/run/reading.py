"""Bounded reading of the files around a config: whatever they are, it ends soon, or says why."""

from __future__ import annotations

import ast
import stat
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SOURCE_LIMIT = 1 << 20  # bytes of a Python file


class UnusableError(Exception):
    """A file that cannot be used; the message says why in a few words, without the path."""


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of a regular file of at most ``limit`` bytes.

    Raises UnusableError: pipes and devices are never opened, larger files never read.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnusableError("is not a regular file")
        if status.st_size > limit:
            raise UnusableError(f"is larger than {limit:,} bytes")
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError:
        raise UnusableError("does not exist") from None
    except (OSError, RuntimeError, ValueError) as error:
        # ValueError: a null byte in the path. RuntimeError: a symlink loop, before Python 3.13.
        reason = getattr(error, "strerror", None) or str(error)
        raise UnusableError(f"cannot be read: {reason}") from None
    if len(content) > limit:
        raise UnusableError(f"is larger than {limit:,} bytes")
    return content


def read_source(path: Path) -> str:
    """The decoded text of a Python file. Raises UnusableError."""
    from nanolint.source.text import Undecodable, decode

    content = read_bytes(path, SOURCE_LIMIT)
    if b"\0" in content:
        raise UnusableError("is not a text file")
    try:
        return decode(content).text
    except Undecodable as error:
        raise UnusableError(f"cannot be decoded: {error}") from None


def syntax_tree(text: str) -> ast.Module:
    """The abstract syntax tree of ``text``. Raises UnusableError."""
    from nanolint.source.scan import TooComplex, check

    try:
        check(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are the author's business
            return ast.parse(text)
    except TooComplex as error:
        raise UnusableError(str(error)) from None
    except SyntaxError as error:
        raise UnusableError(f"is not valid Python: {error.msg}, line {error.lineno}") from None
    except (RecursionError, MemoryError, ValueError):
        raise UnusableError("is too deeply nested, or not text") from None


def exists(path: Path) -> bool:
    """Whether ``path`` is a file; False where not even that can be asked."""
    try:
        return path.is_file()
    except (OSError, RuntimeError, ValueError):
        return False
