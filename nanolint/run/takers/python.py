"""What a Python file imports, names and executes, read from its syntax tree."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.regex import lazily
from nanolint.source.python import new_tree
from nanolint.source.scan import check
from nanolint.source.values import TooComplex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Calls that execute a file or import a module by a value, and of them those that take its name.
_BY_NAME = frozenset({"import_module", "__import__", "run_module"})
_BY_PATH = frozenset({"run_path", "spec_from_file_location", "SourceFileLoader", "load_source"})
_EXECUTING = _BY_NAME | _BY_PATH | {"exec", "execfile"}
_EXECUTES = lazily(r"exec(?:file)?\b")  # and not execute, which stands in many files
# How every script of nanoGPT's kind loads its configurator: known, and frequent.
_LOADS_CONFIGURATOR = lazily(r"exec\(open\(['\"][\w./]*configurator\.py['\"]\)\.read\(\)\)")

_PATH = lazily(r"(?P<path>[\w./\\-]*)\.py(?!\w)")
_ENDS_WITH_SCRIPT = lazily(r"(?P<before>.?)(?<![\w./\\-])(?P<path>[\w./\\-]*)\.py\Z", re.DOTALL)
_PLACEHOLDER_ENDS = frozenset("*?]}%")
_WORD = lazily(r"\w+(?:\.\w+)*")
_SUFFIX = ".py"
_MOST_STEPS = 8  # from a name to the value that it was given, and on


@dataclass(frozen=True, slots=True)
class Name:
    """A file or a module that a text names: ``config/base.py`` or ``config.base``."""

    parts: tuple[str, ...]

    def means(self, path: Path) -> bool:
        """Whether the last part is the file's, which makes it possible."""
        before, last, after = path.stem.rpartition(self.parts[-1])
        return bool(last) and not after and not re.search(r"[\w.-]\Z", before)


@dataclass(frozen=True, slots=True)
class Reach:
    """What a file names, with the lines, in no order; where it executes what only a run knows."""

    names: tuple[tuple[Name, int], ...] = ()
    open_ended: int | None = None


def may_reach_anything(text: str) -> bool:
    """Whether the file may execute what it does not name, without parsing it."""
    other = _LOADS_CONFIGURATOR.sub("", text) if "configurator" in text else text
    return _EXECUTES.search(other) is not None or any(name in other for name in _BY_NAME | _BY_PATH)


@lru_cache(maxsize=4096)
def reach(text: str) -> Reach:
    """What the Python file ``text`` reaches. One that cannot be parsed names all its words."""
    try:
        check(text)
        tree = new_tree(text)
    except (SyntaxError, TooComplex, ValueError, RecursionError, MemoryError):
        return Reach(tuple(_words(text, 1)))
    reader = _Reader(tree)
    return Reach(tuple(reader.names()), reader.open_ended())


def _words(text: str, row: int) -> Iterator[tuple[Name, int]]:
    for line, content in enumerate(text.splitlines(), row):
        for word in _WORD.findall(content.replace(_SUFFIX, "")):
            yield Name(tuple(word.split("."))), line


class _Reader:
    """One syntax tree, walked once."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._prose = {
            id(node.value)
            for node in self._nodes
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        self._pieces = {
            id(part)
            for node in self._nodes
            if isinstance(node, (ast.JoinedStr, ast.BinOp))
            for part in ast.iter_child_nodes(node)
        }
        self._bound: dict[str, list[ast.expr]] = {}
        for node in self._nodes:
            for name, value in _bindings(node):
                self._bound.setdefault(name, []).append(value)

    def names(self) -> Iterator[tuple[Name, int]]:
        """The modules that are imported, and the files that strings name."""
        for node in self._nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Name(tuple(alias.name.split("."))), node.lineno
            elif isinstance(node, ast.ImportFrom):
                module = tuple(filter(None, (node.module or "").split(".")))
                if module:
                    yield Name(module), node.lineno
                yield from ((Name((*module, alias.name)), node.lineno) for alias in node.names)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                if id(node) not in self._prose:
                    yield from _paths(node)
            elif _executes(node) or _sets_all(node):
                yield from self._executed_text(node)

    def open_ended(self) -> int | None:
        """The first line that executes what it does not name."""
        rows = [
            node.lineno
            for node in self._nodes
            if isinstance(node, ast.Call) and _executes(node) and not self._is_settled(node)
        ]
        return min(rows, default=None)

    def _executed_text(self, node: ast.AST) -> Iterator[tuple[Name, int]]:
        """The words of what a call executes or imports, as far as it is written there."""
        for part in self._parts(node):
            text = part.value if isinstance(part, ast.Constant) else None
            if isinstance(text, str) and _SUFFIX not in text:  # a path is none of its words
                yield from _words(text, getattr(part, "lineno", 1))

    def _is_settled(self, call: ast.Call) -> bool:
        """Whether the text says which file or module it is."""
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Constant):
            return True
        if _called(call) in _BY_NAME:
            return False
        strings = [part for part in self._parts(call) if isinstance(part, ast.Constant)]
        named = [part for part in strings if isinstance(part.value, str) and ".py" in part.value]
        return bool(named) and not any(map(self._is_open, named))

    def _is_open(self, node: ast.Constant) -> bool:
        """Whether a string is the end of a script's name whose beginning it does not say."""
        match = _ENDS_WITH_SCRIPT.search(node.value) if isinstance(node.value, str) else None
        if match is None:
            return False
        path = match["path"]
        if not path or path.endswith(("/", "\\")) or match["before"] in _PLACEHOLDER_ENDS:
            return True
        return (
            match.start("path") == 0 and id(node) in self._pieces and not re.search(r"[/\\]", path)
        )

    def _parts(self, node: ast.AST) -> Iterator[ast.AST]:
        """All that a statement is made of, names replaced by what they were given."""
        seen: set[int] = set()
        below: list[tuple[ast.AST, int]] = [(node, 0)]
        while below:
            part, steps = below.pop()
            if id(part) in seen:
                continue
            seen.add(id(part))
            yield part
            below += ((child, steps) for child in ast.iter_child_nodes(part))
            if isinstance(part, ast.Name) and steps < _MOST_STEPS:
                below += ((value, steps + 1) for value in self._bound.get(part.id, ()))


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement binds, each with the expression that the value comes from."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        pairs = [(node.target, node.value)]
    elif isinstance(node, (ast.For, ast.comprehension)):
        pairs = [(node.target, node.iter)]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        pairs = [(node.optional_vars, node.context_expr)]
    for target, value in pairs:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                yield part.id, value


def _paths(node: ast.Constant) -> Iterator[tuple[Name, int]]:
    for match in _PATH.finditer(str(node.value)):
        split = re.split(r"[/\\]", match["path"])
        parts = tuple(part for part in split if part not in ("", ".", ".."))
        if parts:
            yield Name(parts), node.lineno


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _executes(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _called(node) in _EXECUTING


def _sets_all(node: ast.AST) -> bool:
    """Whether the statement says which modules ``from package import *`` imports."""
    targets = node.targets if isinstance(node, ast.Assign) else ()
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)
