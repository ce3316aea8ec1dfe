"""Keys that a script's own dictionary never has."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.interpreter import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.values import Value


def never_set(texts: Iterable[str], name: str, key: Value, *, is_global: bool) -> bool:
    """Whether the dictionary ``name`` is written out whole wherever it is bound, and none of
    ``texts`` could put ``key`` into one of that name: ``config = {k: globals()[k] for k in keys}``.
    An argument of that name is another dictionary if ``is_global``.
    """
    nodes = [each for tree in map(parsed, texts) if tree is not None for each in ast.walk(tree)]
    bound = [each for each in nodes if _binds(each, name)]
    return (
        bool(bound)
        and all(map(_is_written_out, bound))
        and not any(_may_set(each, name, key, is_global=is_global) for each in nodes)
    )


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a node gives a name a value, at whatever place."""
    if isinstance(node, (ast.Assign, ast.Delete)):
        return any(ast.unparse(each) == name for each in node.targets)
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        return ast.unparse(node.target) == name
    return False


def _is_written_out(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, ast.DictComp) or (
        isinstance(value, ast.Dict) and None not in value.keys
    )


def _may_set(node: ast.AST, name: str, key: Value, *, is_global: bool) -> bool:
    if isinstance(node, ast.arg):
        return node.arg == name and not is_global
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return any((each.asname or each.name) == name for each in node.names)
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
        return any(ast.unparse(each) == name for each in node.elts)
    if isinstance(node, (ast.For, ast.comprehension)):
        return ast.unparse(node.target) == name
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        if isinstance(node.slice, ast.Constant):
            return bool(node.slice.value == key)
        return ast.unparse(node.value) == name
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target) == name
    return (
        isinstance(node, ast.Attribute)
        and node.attr in ("update", "setdefault")
        and ast.unparse(node.value) == name
    )
