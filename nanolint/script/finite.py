"""Tests that every run answers alike: its numbers are finite, and a model has its tables.

A run is read as one whose losses and gradients are finite, so the first loss is below the infinity
that the best one begins with.

transformers makes models without memory first, which loses what ``__init__`` put into buffers, so
models look at their rotary tables in ``forward`` and make them again if they are empty. What they
make is as large as what they drop, and the next time it is not empty.
"""

from __future__ import annotations

import ast
from math import inf
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Figure
from nanolint.interpreter.watched import Real
from nanolint.tensors.dtypes import FLOATING
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.values import Value

ANSWERS = {"isfinite": True, "isnan": False, "isinf": False}
KEPT = frozenset({"all", "any", "item", "bool", "cpu"})  # methods that a constant goes through


def answer(test: ast.expr) -> bool | None:
    """Returns the result of ``torch.isnan(loss)`` and its like if all is finite; None for other
    tests.

    >>> answer(ast.parse("not torch.isfinite(loss).all()", mode="eval").body)
    False
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        found = answer(test.operand)
        return None if found is None else not found
    if isinstance(test, ast.BoolOp):
        each = [answer(value) for value in test.values]
        decides = isinstance(test.op, ast.Or)
        if decides in each:
            return decides
        return None if None in each else not decides
    if isinstance(test, ast.Call):
        name = test.func.attr if isinstance(test.func, ast.Attribute) else None
        name = test.func.id if isinstance(test.func, ast.Name) else name
        if name in KEPT and isinstance(test.func, ast.Attribute):
            return answer(test.func.value)
        return None if name is None else ANSWERS.get(name)
    return None


def order(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    """Returns the result of ``loss < best`` if one is infinite and the other a number that only a
    run tells; None for all else."""
    if not isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return None
    less = isinstance(op, (ast.Lt, ast.LtE))
    if _is_infinite(right) and _is_number(left):
        return less is (right == inf)
    if _is_infinite(left) and _is_number(right):
        return less is (left == -inf)
    return None


def _is_infinite(value: Value) -> bool:
    return type(value) is float and value in (inf, -inf)


def _is_number(value: Value) -> bool:
    """Whether it is a loss, or what is made of losses."""
    if isinstance(value, Tensor):
        return not value.shape and value.dtype.kind == FLOATING
    return isinstance(value, (Figure, Real))


def questions(test: ast.expr) -> Iterator[ast.expr]:
    """The calls that such a test is made of."""
    if isinstance(test, ast.UnaryOp):
        yield from questions(test.operand)
    elif isinstance(test, ast.BoolOp):
        for each in test.values:
            yield from questions(each)
    else:
        yield test


def makes_anew(node: ast.If) -> bool:
    """Whether a branch fills the attributes whose contents it was asked to be nothing.

    >>> text = "if self.cos[0, 0] == 0:\\n    self.cos, self.sin = table(self.size)"
    >>> makes_anew(ast.parse(text).body[0])
    True
    """
    test = node.test
    if not isinstance(test, ast.Compare) or node.orelse:
        return False
    match test.ops, test.comparators:
        case [ast.Eq()], [ast.Constant(value=0 | 0.0)]:
            parts = (each for each in ast.walk(test.left) if isinstance(each, ast.Attribute))
            return not _filled(node).isdisjoint(map(ast.unparse, parts))
    return False


def _filled(node: ast.If) -> set[str]:
    """The attributes that the statements of a branch set."""
    return {
        ast.unparse(each)
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for each in ast.walk(target)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
    }
