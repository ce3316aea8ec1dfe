"""A text in Python's own tree: what rules ask before libcst, which takes a hundred times as long.

Imports count wherever they stand, so that what a name may mean is never too little. A text that
Python refuses may hold anything.
"""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


class Plain:
    """The tree of one text, walked once; ``tree`` is None where Python refuses the text."""

    def __init__(self, text: str) -> None:
        self.tree: ast.Module | None = None
        self.nodes: list[ast.AST] = []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.tree = ast.parse(text)
            self.nodes = list(ast.walk(self.tree))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        self.imported = dict[str, set[str]]()
        for name, qualified in _imported(self.nodes):
            self.imported.setdefault(name, set()).add(qualified)
        self._bound = {name for node in self.nodes for name in _bound(node)}
        self._meant = {each for node in self.nodes for each in self.meanings(node)}

    def may_mean(self, wanted: Collection[str]) -> bool:
        """Whether an expression may be one of these full names, wherever its import counts."""
        return self.tree is None or not self._meant.isdisjoint(wanted)

    def means(self, node: ast.AST, wanted: str) -> bool:
        """Whether an expression is ``wanted``, whatever the scope: nothing else has its name."""
        found = list(self.meanings(node))
        while isinstance(node, ast.Attribute):
            node = node.value
        return found == [wanted] and isinstance(node, ast.Name) and node.id not in self._bound

    def meanings(self, node: ast.AST) -> Iterator[str]:
        """The full names that a name, or a chain of attributes, may stand for."""
        parts = list[str]()
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            for start in self.imported.get(node.id, ()):
                yield ".".join([start, *reversed(parts)])


def _imported(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """The names that imports give, and what each stands for."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                first = each.name.partition(".")[0]
                yield (each.asname, each.name) if each.asname else (first, first)
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                yield each.asname or each.name, f"{node.module or ''}.{each.name}"


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that get a value at a node which is no import."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    else:
        # Functions, classes, handlers, patterns and type parameters have a name of their own.
        name = getattr(node, "name", None)
        if isinstance(name, str) and not isinstance(node, ast.alias):
            yield name


@lru_cache(maxsize=4)
def plain(text: str) -> Plain:
    """The tree of ``text``, read once for all rules."""
    return Plain(text)
