"""A text in Python's own tree: what rules ask before libcst, which takes a hundred times as long.

Imports count wherever they stand, so that what a name may mean is never too little. A text that
Python refuses may hold anything.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from nanolint.rule import nodes, python_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # fields that hold statements


class _Import(NamedTuple):
    """What an import gives a name. ``import a.b`` gives an ``a`` of which b is there."""

    qualified: str
    at_top: bool  # of the module, so that the name is seen everywhere
    is_whole: bool = True


class Plain:
    """The tree of one text, walked once; ``tree`` is None where Python refuses the text."""

    def __init__(self, text: str) -> None:
        self.tree: ast.Module | None = None
        self.nodes: Sequence[ast.AST] = ()
        self.imported = dict[str, list[_Import]]()
        self._bound = set[str]()
        try:
            self.tree = python_tree(text)
            self.nodes = nodes(self.tree)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        inner = {id(each) for each in _imports_inside(self.tree.body)}
        for node in self.nodes:
            self._bound.update(_bound(node))
            if isinstance(node, _IMPORTS):
                for name, found in _imported(node, at_top=id(node) not in inner):
                    self.imported.setdefault(name, []).append(found)
        names = (node for node in self.nodes if isinstance(node, ast.Name | ast.Attribute))
        self._meant = {each for node in names for each in self._meanings(node)}

    def may_mean(self, wanted: Collection[str]) -> bool:
        """Whether an expression may be one of these full names, wherever its import counts."""
        return self.tree is None or not self._meant.isdisjoint(wanted)

    def means(self, node: ast.AST, wanted: str) -> bool:
        """Whether an expression is ``wanted``, whatever the scope: nothing else has its name."""
        first, *rest = _parts(node) or [""]
        return first not in self._bound and self.possible(first, rest) == {wanted}

    def possible(self, first: str, rest: Iterable[str]) -> set[str]:
        """The full names that ``first.rest`` may stand for."""
        return {".".join((each.qualified, *rest)) for each in self.imported.get(first, ())}

    def surely(self, first: str, rest: Iterable[str]) -> str | None:
        """The full name of ``first.rest`` where it is the same in each scope, else None."""
        found = self.imported.get(first, ())
        if first in self._bound or not all(each.at_top for each in found):
            return None
        whole = any(each.is_whole for each in found)
        names = self.possible(first, rest)
        return names.pop() if whole and len(names) == 1 else None

    def _meanings(self, node: ast.AST) -> set[str]:
        first, *rest = _parts(node) or [""]
        return self.possible(first, rest) if first in self.imported else set()


def _parts(node: ast.AST) -> Sequence[str]:
    """``torch``, ``amp`` and ``autocast`` of ``torch.amp.autocast``; nothing of what is no name."""
    parts = list[str]()
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else ()


def _imports_inside(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The imports in functions and classes."""
    unseen = [(node, False) for node in body]
    while unseen:
        node, inside = unseen.pop()
        if inside and isinstance(node, _IMPORTS):
            yield node
        inside = inside or isinstance(node, _FUNCTIONS)
        for block in _BLOCKS:
            held = getattr(node, block, None)
            if isinstance(held, list):
                unseen += [(each, inside) for each in held]


def _imported(node: ast.AST, *, at_top: bool) -> Iterator[tuple[str, _Import]]:
    """The names that a node imports."""
    if isinstance(node, ast.Import):
        for each in node.names:
            first, _, more = each.name.partition(".")
            if each.asname or not more:
                yield each.asname or each.name, _Import(each.name, at_top)
            else:
                yield first, _Import(first, at_top, is_whole=False)
    elif isinstance(node, ast.ImportFrom):
        for each in node.names:
            qualified = f"{node.module or ''}.{each.name}"
            yield each.asname or each.name, _Import(qualified, at_top, is_whole=not node.level)


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that get a value at a node which is no import."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif not isinstance(node, ast.alias):
        # Functions, classes, handlers, patterns and type parameters have a name of their own.
        for field in ("name", "rest"):
            if field in node._fields:
                name = getattr(node, field)
                if isinstance(name, str):
                    yield name


@lru_cache(maxsize=4)
def plain(text: str) -> Plain:
    """The tree of ``text``, read once for all rules."""
    return Plain(text)
