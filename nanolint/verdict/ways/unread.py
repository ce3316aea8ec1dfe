"""What of a script's names is read again after it was given a value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from nanolint.cached import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BLOCKS = ("body", "orelse", "finalbody")


class Scope:
    """A module or a function, without the functions in it."""

    def __init__(self, root: ast.Module | Function) -> None:
        self._root = root

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All that is in it."""
        found: list[ast.AST] = _children(self._root)
        for node in found:  # which grows
            if not isinstance(node, FUNCTIONS):
                found += _children(node)
        return tuple(found)

    @cached_property
    def _inner(self) -> tuple[Scope, ...]:
        return tuple(Scope(each) for each in self.nodes if isinstance(each, FUNCTIONS))

    @cached_property
    def _blocks(self) -> dict[ast.stmt, tuple[Sequence[ast.stmt], int]]:
        """The block of each statement, and its place there."""
        found: dict[ast.stmt, tuple[Sequence[ast.stmt], int]] = {}
        for node in (self._root, *self.nodes):
            for name in BLOCKS:
                block = getattr(node, name, None)
                if isinstance(block, list):
                    found.update({each: (block, at) for at, each in enumerate(block)})
        return found

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {each: node for node in (self._root, *self.nodes) for each in _children(node)}

    def is_unread(self, name: str, given: ast.Assign) -> bool:
        """Whether nobody reads what ``given`` gives to a name: each who reads it reads what it was
        given behind that."""
        if any(_is_elsewhere(node, name) for node in self.nodes):
            return False
        if any(each.reads(name) for each in self._inner):
            return False
        return not any(self._may_read(each, name, given) for each in self._read(name))

    def reads(self, name: str) -> bool:
        """Whether a function reads a name of what is around it, or gives it a value."""
        if any(isinstance(each, (ast.Global, ast.Nonlocal)) and name in each.names
               for each in self.nodes):  # fmt: skip
            return True
        if name in self._bound:
            return False
        return any(True for _ in self._read(name)) or any(each.reads(name) for each in self._inner)

    @cached_property
    def _bound(self) -> frozenset[str]:
        """The names that are a function's own."""
        stored = {
            each.id
            for each in self.nodes
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        given = {each.arg for each in ast.walk(self._root) if isinstance(each, ast.arg)}
        return frozenset(stored | given)

    def _read(self, name: str) -> Iterator[ast.AST]:
        for each in self.nodes:
            if isinstance(each, ast.AugAssign):
                each = each.target
                reads = True
            else:
                reads = isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
            if reads and isinstance(each, ast.Name) and each.id == name:
                yield each

    def _may_read(self, read: ast.AST, name: str, given: ast.Assign) -> bool:
        """Whether a name that is read may hold what ``given`` gave it."""
        node = read
        while node in self._parents:
            if isinstance(node, ast.stmt) and node in self._blocks:
                block, at = self._blocks[node]
                for before in range(at - 1, -1, -1):
                    if _gives(block[before], name):
                        behind = block[before : at + 1]
                        return any(given is each for part in behind for each in ast.walk(part))
            node = self._parents[node]
        return True


def scopes(tree: ast.Module) -> Iterator[Scope]:
    """A module, and every function in it."""
    yield Scope(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Scope(node)


def _children(node: ast.AST) -> list[ast.AST]:
    return list(ast.iter_child_nodes(node))


def _is_elsewhere(node: ast.AST, name: str) -> bool:
    """Whether a name is another scope's, or is deleted already."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return name in node.names
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Del)


def _gives(statement: ast.stmt, name: str) -> bool:
    """Whether a name has been given a value for certain once a statement is done."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return any(_gives(each, name) for each in statement.body)
    if not isinstance(statement, ast.Assign):
        return False
    stored = (each for target in statement.targets for each in ast.walk(target))
    return any(
        isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id == name
        for each in stored
    )
