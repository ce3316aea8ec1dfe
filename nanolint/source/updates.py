"""Optimizers that a program writes itself, on no class of torch's: what their ``step`` does."""

from __future__ import annotations

import ast

from nanolint.source.python import of_node

STEP = "step"  # the method that updates parameters
LEAVES_TO_OTHERS = frozenset({"backward", STEP})


@of_node
def updates(step: ast.AST) -> bool:
    """Whether a method named ``step`` updates parameters: it asks for their gradients, and lets no
    other object go backward or step."""
    asks, leaves = False, False
    for each in ast.walk(step):
        if isinstance(each, ast.Attribute):
            asks = asks or each.attr == "grad"
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            leaves = leaves or each.func.attr in LEAVES_TO_OTHERS
    return asks and not leaves
