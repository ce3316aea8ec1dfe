"""``torch.utils._pytree``: the leaves of nested lists, tuples and dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value

PYTREE = "torch.utils._pytree"


def module(machine: Machine) -> Namespace:
    """The functions that programs take from it."""

    def mapped(function: Value, tree: Value) -> Value:
        leaves, spec = flattened(tree)
        return unflattened([machine.call(function, [each]) for each in leaves], spec)

    return Namespace(
        PYTREE,
        {
            "tree_flatten": Native("tree_flatten", flattened, plain=False),
            "tree_unflatten": Native("tree_unflatten", unflattened, plain=False),
            "tree_map": Native("tree_map", mapped, plain=False),
            "tree_leaves": Native("tree_leaves", lambda tree: list(_leaves(tree)), plain=False),
        },
    )


def flattened(tree: Value) -> tuple[list[Value], Value]:
    """The leaves, and the tree with a blank for each."""
    return list(_leaves(tree)), _blank(tree)


def unflattened(leaves: Value, spec: Value) -> Value:
    """The tree again, with other leaves."""
    return _filled(spec, iter(leaves))


def _leaves(tree: Value) -> Iterator[Value]:
    if isinstance(tree, (list, tuple, dict)):
        for each in tree.values() if isinstance(tree, dict) else tree:
            yield from _leaves(each)
    else:
        yield tree


def _blank(tree: Value) -> Value:
    if isinstance(tree, dict):
        return {name: _blank(each) for name, each in tree.items()}
    return type(tree)(map(_blank, tree)) if isinstance(tree, (list, tuple)) else None


def _filled(spec: Value, leaves: Iterator[Value]) -> Value:
    if isinstance(spec, dict):
        return {name: _filled(each, leaves) for name, each in spec.items()}
    if isinstance(spec, (list, tuple)):
        return type(spec)([_filled(each, leaves) for each in spec])
    return next(leaves)
