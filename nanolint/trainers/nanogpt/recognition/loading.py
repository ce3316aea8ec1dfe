"""A ``get_batch`` that leaves two tensors of token numbers on the device and nothing else."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOVES = frozenset({"to", "cuda"})
_TOKENS = ("int64", "torch.long", ".long()")  # 8 bytes each, as nanoGPT's


def loads_plainly(function: ast.FunctionDef) -> bool:
    """Whether all is made on the host, as 64-bit integers, and two tensors moved at the end.

    However the batch is put together: from bytes, from rows of a fixed length, by a list.
    """
    moved: dict[str, None] = {}
    allowed: set[ast.AST] = set()
    for statement in ast.walk(function):
        if isinstance(statement, ast.Assign):
            for name, call in _moves(statement):
                moved[name] = None
                allowed.add(call)
    others = [node for node in ast.walk(function) if _is_move(node) and node not in allowed]
    source = ast.unparse(function)
    return (
        len(moved) == 2
        and not others
        and "device=" not in source
        and any(word in source for word in _TOKENS)
        and _ends_with_moves(function.body, moved)
    )


def _moves(statement: ast.Assign) -> Iterator[tuple[str, ast.Call]]:
    """The names that a statement gives tensors on the device, and the calls that move them."""
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=False))
    for name, call in pairs:
        if isinstance(name, ast.Name) and isinstance(call, ast.Call) and _is_move(call):
            yield name.id, call


def _is_move(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _MOVES
    )


def _ends_with_moves(body: list[ast.stmt], moved: dict[str, None]) -> bool:
    """Whether below the first move there are only moves, and the two names are returned."""
    *others, last = body
    first = next((i for i, each in enumerate(others) if any(map(_is_move, ast.walk(each)))), None)
    if first is None or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Tuple):
        return False
    returned = [each.id for each in last.value.elts if isinstance(each, ast.Name)]
    return set(returned) == moved.keys() and all(map(_only_moves, others[first:]))


def _only_moves(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return all(map(_only_moves, [*statement.body, *statement.orelse]))
    if isinstance(statement, ast.Assign):
        count = len(statement.value.elts) if isinstance(statement.value, ast.Tuple) else 1
        return len(list(_moves(statement))) == count
    return isinstance(statement, (ast.Pass, ast.Assert))
