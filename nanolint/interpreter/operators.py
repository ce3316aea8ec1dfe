"""Operators on plain values, on objects of the program, and on what is not known."""

from __future__ import annotations

import ast
import operator
import re
from itertools import islice
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain
from nanolint.interpreter.counted import looked_up
from nanolint.interpreter.counted import plain as unnoted
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import (
    CONTENTS,
    Annotation,
    Class,
    Instance,
    Native,
    TensorClass,
    Unknown,
)
from nanolint.interpreter.watched import Index, plain
from nanolint.tape.symbolic import as_key
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value

BINARY: dict[type[ast.operator], tuple[str, Callable[[Value, Value], Value]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
    ast.MatMult: ("matmul", operator.matmul),
    ast.LShift: ("lshift", operator.lshift),
    ast.RShift: ("rshift", operator.rshift),
    ast.BitOr: ("or", operator.or_),
    ast.BitAnd: ("and", operator.and_),
    ast.BitXor: ("xor", operator.xor),
}
COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Value, Value], Value]]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
}
UNARY: dict[type[ast.unaryop], tuple[str, Callable[[Value], Value]]] = {
    ast.USub: ("neg", operator.neg),
    ast.UAdd: ("pos", operator.pos),
    ast.Invert: ("invert", operator.invert),
}
# Of a text that numbers are put into, by "%".
_DIRECTIVE = re.compile(r"%[-+ 0#]?\d{0,3}(?:\.\d{1,2})?[sdifgeEGxX]|%%")


class Union(tuple["Value", ...]):
    """``First | Second``, for annotations and ``isinstance``."""


TYPES = (Class, Annotation, TensorClass, type, Union)
MOST_BITS = 4096  # of a whole number
PLAIN = {tuple, dict, str, int, float}


def binary(machine: Machine, op: ast.operator, left: Value, right: Value) -> Value:
    """``left op right`` of anything but tensors."""
    for each in (left, right):
        if isinstance(each, Unknown):
            return each
    name, function = BINARY[type(op)]
    if name == "or" and any(isinstance(each, TYPES) for each in (left, right)):
        return Union((left, right))
    if isinstance(left, Instance) or isinstance(right, Instance):
        return _by_methods(machine, name, left, right)
    if name == "mod" and isinstance(left, str):
        text = _formatted(machine, left, right)
        return machine.unknown("a formatted text") if text is None else text
    _bound(machine, name, left, right)
    try:
        found = function(left, right)
    except TypeError as error:
        if name != "truediv" and {type(left), type(right)} <= PLAIN:  # a path may be a text here
            certain(error)
        raise
    if machine.made_up.numbers:
        machine.made_up.follow(found, (left, right))
    return found


def has_method(op: ast.operator, left: Value, right: Value) -> bool:
    """Whether a class of the program says what ``left op right`` is."""
    if not isinstance(left, Instance) and not isinstance(right, Instance):
        return False
    name, _ = BINARY[type(op)]
    return (isinstance(left, Instance) and left.cls.has(f"__{name}__")) or (
        isinstance(right, Instance) and right.cls.has(f"__r{name}__")
    )


def _formatted(machine: Machine, text: str, given: Value) -> str | None:
    """``"%s.%s" % (name, key)``; None for what is not plainly put together."""
    values = given if isinstance(given, tuple) else (given,)
    if not all(map(machine.made_up.writes, values)):
        return None
    if any("%" in each for each in _DIRECTIVE.split(text)):
        return None
    try:
        return str(text % tuple(map(plain, values)))
    except (TypeError, ValueError):
        return None


def _by_methods(machine: Machine, name: str, left: Value, right: Value) -> Value:
    for owner, method, other in ((left, f"__{name}__", right), (right, f"__r{name}__", left)):
        if isinstance(owner, Instance):
            if owner.cls.has(method):
                return machine.call(machine.attribute(owner, method), [other])
            if isinstance(owner.native, dict) and name == "or":
                return owner.native | other
    raise machine.unread(f"{name} of {left} and {right} is not known")


def _bound(machine: Machine, name: str, left: Value, right: Value) -> None:
    """Refuse what would take long or be large."""
    left, right = unnoted(left), unnoted(right)
    if name == "mul":
        for one, other in ((left, right), (right, left)):
            if isinstance(one, (str, bytes, list, tuple)) and isinstance(other, int):
                machine.bounded(len(one) * max(0, other))
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length()
        if name == "pow":
            bits *= abs(right)
        elif name == "lshift":
            bits += right
        elif name == "mul":
            bits += right.bit_length()
        if bits > MOST_BITS:
            raise machine.unread("a number of too many digits")


def unary(machine: Machine, op: ast.unaryop, operand: Value) -> Value:
    """``op operand`` of anything but tensors."""
    if isinstance(operand, Unknown):
        return operand
    if isinstance(op, ast.Not):
        return not machine.truth(operand)
    name, function = UNARY[type(op)]
    if isinstance(operand, Instance):
        return machine.call(machine.attribute(operand, f"__{name}__"), [])
    found = function(operand)
    if machine.made_up.numbers:
        machine.made_up.follow(found, (operand,))
    return found


def compare(machine: Machine, op: ast.cmpop, left: Value, right: Value) -> Value:
    """``left op right``; of tensors only what compares objects."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        for each in (left, right):
            if isinstance(each, Unknown):
                return each
        same = left is right or (_is_small(left, right) and left == right)
        return same is isinstance(op, ast.Is)
    for each in (left, right):
        if isinstance(each, Unknown):
            return each
    if machine.made_up.numbers:
        machine.made_up.compare(left, right)
    if isinstance(op, (ast.In, ast.NotIn)):
        found = _contains(machine, right, left)
        return found if isinstance(found, Unknown) else found is isinstance(op, ast.In)
    name, function = COMPARE[type(op)]
    for owner, other in ((left, right), (right, left)):
        if isinstance(owner, Instance) and owner.cls.has(f"__{name}__"):
            return machine.call(machine.attribute(owner, f"__{name}__"), [other])
        if isinstance(owner, Native) and type(other) is int:
            return machine.unknown(f"the {owner.name} of an array")  # numpy's, which is no method
    return function(left, right)


def _is_small(left: Value, right: Value) -> bool:
    """Whether CPython has one object for equal values of this kind."""
    return type(left) is type(right) and isinstance(left, (bool, str, int))


def _contains(machine: Machine, container: Value, element: Value) -> Value:
    if isinstance(container, str):
        return element in container
    if isinstance(container, Instance) and container.cls.has("__contains__"):
        return machine.truth(machine.call(machine.attribute(container, "__contains__"), [element]))
    if isinstance(container, Tensor):
        return machine.unknown(CONTENTS)
    found = False
    for each in machine.iterate(container):
        if each is element:
            return True
        if isinstance(each, Unknown):
            return each
        if not isinstance(each, Tensor) and not isinstance(element, Tensor):
            found = found or machine.compare(ast.Eq(), each, element) is True
    return found


def mapping(machine: Machine, value: Value, function: Value = None) -> dict[str, Value]:
    """Returns the arguments that ``**value`` passes. Raises Unread if they are not known."""
    if isinstance(value, Unknown):
        return machine.unpacked(value, function)
    if isinstance(value, Instance) and isinstance(value.native, dict):
        return value.native
    if isinstance(value, dict):
        return value
    raise machine.unread(f"** of {value!r} is not known")


def item(machine: Machine, owner: Value, index: Value) -> Value:
    """``owner[index]`` of anything but a tensor."""
    own = isinstance(owner, Instance) and owner.cls.has("__getitem__")
    for each in (owner, index):
        if isinstance(each, Unknown) and not (own and isinstance(each, Index)):
            return each
    if isinstance(owner, Instance):
        if own:  # the sample at a place that only a run tells, too
            return machine.call(machine.attribute(owner, "__getitem__"), [index])
        if owner.native is not None:
            return owner.native[as_key(index)]
        raise machine.unread(f"an element of {owner} is not known")
    index = looked_up(owner, index)
    if isinstance(owner, dict):
        index = as_key(index)
        if hasattr(owner, "__missing__"):
            return owner[index]
        found = owner.get(index, MISSING)
        if found is MISSING:
            raise KeyError(index)
        return found
    if isinstance(owner, (str, bytes, list, tuple, range)):
        return owner[index]
    return owner  # list[int], Optional[Tensor]: a type


def in_place(machine: Machine, op: ast.operator, left: Value, right: Value) -> Value:
    """Returns the value that ``left op= right`` binds."""
    if isinstance(left, list) and isinstance(op, ast.Add):
        left += islice(machine.iterate(right), 1_000_000)
        return left
    if isinstance(left, (dict, set)) and isinstance(op, ast.BitOr):
        left |= right
        return left
    return machine.binary(op, left, right)
