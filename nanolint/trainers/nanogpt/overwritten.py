"""The settings that a script takes from a checkpoint that it loads, whatever a config says."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.source.python import nodes
from nanolint.trainers.nanogpt.setup.passed import SHAPE

if TYPE_CHECKING:
    from collections.abc import Iterator


def overwritten(tree: ast.Module) -> frozenset[str]:
    """Returns the names of SHAPE that the script reads from what ``torch.load`` gives.

    That is ``args[k] = checkpoint["args"][k]`` in a loop over names or for one name,
    ``n_layer = checkpoint["n_layer"]``, ``Config(**checkpoint["args"])`` and ``args.update(...)``.
    """
    loaded = _loaded(tree)
    if not loaded:
        return frozenset()
    found = {name for node in nodes(tree) for name in _names(node, loaded)}
    return frozenset(each for each in SHAPE if each in found or None in found)


def _loaded(tree: ast.Module) -> set[str]:
    """The names that stand for what ``torch.load`` gives, or for a part of it."""
    found: set[str] = set()
    assigned = [each for each in nodes(tree) if isinstance(each, ast.Assign)]
    while True:
        more = {
            target.id
            for each in assigned
            if _is_loaded(each.value, found)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        if more <= found:
            return found
        found |= more


def _is_loaded(node: ast.expr, loaded: set[str]) -> bool:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "torch.load"
    return isinstance(node, ast.Name) and node.id in loaded


def _names(node: ast.AST, loaded: set[str]) -> Iterator[str | None]:
    """Yields the names that a node takes of a checkpoint; None for all that it has."""
    if isinstance(node, ast.For) and isinstance(node.iter, (ast.List, ast.Tuple)):
        takes = (
            isinstance(each, ast.Assign)
            and isinstance(each.value, ast.Subscript)
            and _is_loaded(each.value, loaded)
            for each in node.body
        )
        if any(takes):
            yield from (str(e.value) for e in node.iter.elts if isinstance(e, ast.Constant))
    elif isinstance(node, ast.Assign) and _is_loaded(node.value, loaded):
        if isinstance(node.value, ast.Attribute):
            yield node.value.attr
        elif isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Constant):
            yield str(node.value.slice.value)
    elif isinstance(node, ast.Call):
        whole = [each.value for each in node.keywords if each.arg is None]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "update":
            whole += node.args
        if any(_is_loaded(each, loaded) for each in whole):
            yield None
