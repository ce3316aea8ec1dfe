"""What keeps nanoGPT's configurator from running a config: ``exec(open(config).read())``."""

from __future__ import annotations

import ast
import codecs
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import read_bytes
from nanolint.frozen import dataclass
from nanolint.source.python import compile_only
from nanolint.trainers.nanogpt.reading import SOURCE_LIMIT, syntax_tree

if TYPE_CHECKING:
    from pathlib import Path

_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit"})


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why the configurator cannot run a config, or not to its end, and at which line (from 1)."""

    text: str
    line: int = 1


def obstacle(text: str, path: Path | None) -> Obstacle | None:
    """What keeps the config ``text`` from being run; ``path`` is where its bytes are, if anywhere.

    It is compiled, which runs nothing: some errors are found only then. Never raises.
    """
    return _undecodable(path) or _uncompilable(text, path) or _end(text)


def _undecodable(path: Path | None) -> Obstacle | None:
    """open() reads in the locale's encoding, UTF-8, whatever a cookie says, and keeps the mark."""
    try:
        raw = read_bytes(path, SOURCE_LIMIT) if path is not None else b""
    except Unusable:
        return None
    if raw.startswith(codecs.BOM_UTF8):
        return Obstacle("it begins with a byte order mark, which exec refuses; save it without one")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        return Obstacle(
            "it is not UTF-8, but open() reads it as UTF-8, whatever encoding it declares", line
        )
    return None


def _uncompilable(text: str, path: Path | None) -> Obstacle | None:
    try:
        compile_only(text, str(path or "config.py"))
    except SyntaxError as error:
        return Obstacle(f"Python refuses it: {error.msg}", error.lineno or 1)
    except (RecursionError, MemoryError, ValueError, OverflowError):
        return None  # Python may take it with more room
    return None


def _end(text: str) -> Obstacle | None:
    """A statement at the top that surely ends the run, with settings below it."""
    try:
        body = syntax_tree(text).body
    except Unusable:
        return None
    for index, statement in enumerate(body):
        below = any(isinstance(each, (ast.Assign, ast.AnnAssign)) for each in body[index + 1 :])
        if below and _ends(statement):
            what = ast.unparse(statement).partition("\n")[0]
            text = f"`{what}` ends the run, so nothing below it is set"
            return Obstacle(text, statement.lineno)
    return None


def _ends(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return True
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and not statement.test.value
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func) in _EXITS
    return False
