"""Keys that a script's own dictionary never has."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.interpreter import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.values import Value


def never_set(texts: Iterable[str], main: str, name: str, key: Value) -> bool:
    """Whether ``main`` writes the dictionary ``name`` out whole, and none of ``texts`` could put
    ``key`` into one of that name: ``config = {k: globals()[k] for k in config_keys}``."""
    tree = parsed(main)
    written = [
        each.value
        for each in (() if tree is None else tree.body)
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == name
    ]
    if len(written) != 1 or not isinstance(written[0], (ast.Dict, ast.DictComp)):
        return False
    trees = [parsed(each) for each in texts]
    return not any(
        _may_set(each, name, key) for tree in trees if tree is not None for each in ast.walk(tree)
    )


def _may_set(node: ast.AST, name: str, key: Value) -> bool:
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
