"""Operators on tensors: each is one of a tensor's methods with two underscores."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.offsets import Index, Real
from nanolint.interpreter.operators import BINARY, COMPARE, UNARY
from nanolint.interpreter.torch.calling import operation
from nanolint.interpreter.values import Figure, Unknown
from nanolint.tensors.names import METHODS
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def binary(machine: Machine, op: ast.operator, left: Value, right: Value) -> Value:
    """``left op right``, where at least one is a tensor."""
    name = BINARY[type(op)][0]
    if isinstance(left, Tensor):
        return _apply(machine, f"__{name}__", left, right)
    return _apply(machine, f"__r{name}__", right, left)


def in_place(machine: Machine, op: ast.operator, left: Tensor, right: Value) -> Value:
    """What ``left op= right`` binds: ``left`` itself, where there is such an operation."""
    name = f"__i{BINARY[type(op)][0]}__"
    if name in METHODS:
        return _apply(machine, name, left, right)
    raise machine.unread(f"Tensor.{name} is not known")


def unary(machine: Machine, op: ast.unaryop, operand: Tensor) -> Value:
    """``op operand``."""
    if isinstance(op, ast.Not):
        return not machine.truth(operand)
    if isinstance(op, ast.UAdd):
        return operand
    return _apply(machine, f"__{UNARY[type(op)][0]}__", operand)


def compare(machine: Machine, op: ast.cmpop, left: Value, right: Value) -> Value:
    """``left == right`` and its like: a tensor of booleans."""
    name = COMPARE[type(op)][0]
    if right is None or left is None or isinstance(left if left is not None else right, str):
        return name == "ne"
    # A whole number that nobody knows makes a tensor as large as any other would.
    left, right = (0 if isinstance(each, Index) else each for each in (left, right))
    if isinstance(left, Tensor):
        return _apply(machine, f"__{name}__", left, right)
    return _apply(machine, f"__{name}__", right, left)


def _apply(machine: Machine, name: str, tensor: Tensor, *others: Value) -> Value:
    for each in others:
        if isinstance(each, Unknown):
            raise each.unread()
    function = METHODS.get(name)
    if function is None:
        raise machine.unread(f"Tensor.{name} is not known")
    return operation(machine, f"Tensor.{name}", function, (tensor, *others), {})


def item(machine: Machine, x: Tensor, index: Value) -> Value:
    """``x[index]``."""
    return _apply(machine, "__getitem__", x, index)


def set_item(machine: Machine, x: Tensor, index: Value, value: Value) -> None:
    """``x[index] = value``."""
    _apply(machine, "__setitem__", x, index, 0.0 if isinstance(value, (Figure, Real)) else value)
