"""Values that the file computes from others: what becomes of them when those change."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING

from nanolint.rule import Known, expression_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanolint.rule import Assignment, Context

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
MOST = 1 << 62  # no count of sequences or tokens is larger


def follows(context: Context, assignment: Assignment, changed: Mapping[str, int]) -> bool:
    """Whether the expression, as it stands, yields what is wanted once ``changed`` is in place.

    That is the new value of a key in ``changed``, and for all others the value that they have::

        gradient_accumulation_steps = 512 // batch_size
        max_iters = 600_000 // (batch_size * gradient_accumulation_steps)
    """
    wanted = changed.get(assignment.key)
    if wanted is None and isinstance(assignment.value, Known):
        wanted = _integer(assignment.value.value)
    try:
        tree = expression_tree(f"({assignment.expression}\n)")
        return wanted is not None and _value(tree, context, changed) == wanted
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return False


def _value(node: ast.expr, context: Context, changed: Mapping[str, int]) -> int:
    """The value of an integer expression; raises ValueError for any other."""
    found: int | None = None
    if isinstance(node, ast.Constant):
        found = _integer(node.value)
    elif isinstance(node, ast.Name):
        found = changed.get(node.id, _integer(context.value(node.id)))
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = (_value(side, context, changed) for side in (node.left, node.right))
        found = _OPERATORS[type(node.op)](left, right)
    if found is None or abs(found) > MOST:
        raise ValueError("no integer expression")
    return found


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
