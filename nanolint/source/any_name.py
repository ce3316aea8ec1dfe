"""Statements that set globals and attributes by names that only a run has:
``globals()[key] = value``, ``setattr(config, key, value)``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.source.python import of_node

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMESPACES = ("globals", "locals", "vars")
_FILLS = ("update", "setdefault", "__setitem__")


@of_node
def set_by_name(node: ast.AST) -> tuple[str, ...]:
    """How the names begin that ``node`` may set so, each "" where nothing of it is written.

    >>> set_by_name(ast.parse('globals()[f"part_{name}"] = 1'))
    ('part_',)
    """
    return tuple(_found(node))


def _found(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            if _is_namespace(each.value):
                yield beginning(each.slice)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            if each.func.attr in _FILLS and _is_namespace(each.func.value):
                yield ""
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
            if each.func.id == "exec":
                yield ""
            elif each.func.id == "setattr" and each.args and _is_module(each.args[0]):
                yield beginning(each.args[1]) if len(each.args) > 1 else ""


@of_node
def attributes_set(node: ast.AST) -> tuple[tuple[ast.expr, str], ...]:
    """Whose attributes ``node`` may set so, and how their names begin.

    >>> [(ast.unparse(of), start) for of, start in attributes_set(
    ...     ast.parse('setattr(config, key, 1); vars(self).update(found)'))]
    [('config', ''), ('self', '')]
    """
    return tuple(_attributes(node))


def _attributes(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
            if each.func.id == "setattr" and len(each.args) > 1:
                yield each.args[0], beginning(each.args[1])
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            owner = _owner(each.func.value)
            if owner is not None and each.func.attr in _FILLS:
                yield owner, ""
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            owner = _owner(each.value)
            if owner is not None:
                yield owner, beginning(each.slice)
        elif isinstance(each, ast.AugAssign):
            owner = _owner(each.target)
            if owner is not None:
                yield owner, ""


def _owner(node: ast.expr) -> ast.expr | None:
    """``config`` of ``vars(config)`` and of ``config.__dict__``."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars":
        return node.args[0] if node.args else None
    return None


def beginning(text: ast.expr) -> str:
    """What a text surely begins with, as far as it is written."""
    if isinstance(text, ast.JoinedStr) and text.values:
        return beginning(text.values[0])
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
        return beginning(text.left)
    known = isinstance(text, ast.Constant) and isinstance(text.value, str)
    return str(text.value) if isinstance(text, ast.Constant) and known else ""


def _is_namespace(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) and not node.args else None
    return isinstance(called, ast.Name) and called.id in _NAMESPACES


def _is_module(node: ast.expr) -> bool:
    return ast.unparse(node).startswith("sys.modules[")
