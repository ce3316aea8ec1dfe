"""Expressions, evaluated in CPython's order.

What an expression has evaluated is held by names of these functions for as long as CPython's stack
holds it: so a temporary tensor is released where PyTorch releases it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter import counted, operators
from nanolint.interpreter.comprehensions import (
    comprehension,
    dictionary_of,
    list_of,
    set_of,
    unknown_of,
)
from nanolint.interpreter.misfits import settle
from nanolint.interpreter.offsets import window
from nanolint.interpreter.scopes import MISSING, Frame, Kind
from nanolint.interpreter.values import Formed, Function, Instance, Unknown
from nanolint.tape import symbolic
from nanolint.tape.symbolic import Symbolic, as_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def _constant(machine: Machine, node: ast.Constant, frame: Frame) -> Value:
    value = node.value
    kind = type(value)
    return machine.number(node, frame) if kind is int or kind is float else value


def _name(machine: Machine, node: ast.Name, frame: Frame) -> Value:
    value = frame.find(node.id)
    if value is MISSING:
        unbound = frame.unbound(node.id, node.lineno)
        if unbound is not None:
            raise unbound
        value = machine.builtin(node.id, frame.module)
    return value


def _attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> Value:
    owner = machine.evaluate(node.value, frame)
    machine.at(frame.module, node.lineno)
    return machine.attribute(owner, node.attr)


def _call(machine: Machine, node: ast.Call, frame: Frame) -> Value:
    function = machine.evaluate(node.func, frame)
    arguments: list[Value] = []
    for each in node.args:
        if isinstance(each, ast.Starred):
            arguments += machine.iterate(machine.evaluate(each.value, frame))
        else:
            arguments.append(machine.evaluate(each, frame))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = machine.evaluate(keyword.value, frame)
        if keyword.arg is None:
            keywords |= operators.mapping(machine, value, function)
        else:
            keywords[keyword.arg] = value
        del value
    machine.at(frame.module, node.lineno)
    if function is machine.zero_super and not arguments:
        return machine.super_of(frame)
    try:
        return machine.call(function, arguments, keywords)
    except TypeError as error:
        settle(error, function)
        raise


def _binary(machine: Machine, node: ast.BinOp, frame: Frame) -> Value:
    left = machine.evaluate(node.left, frame)
    right = machine.evaluate(node.right, frame)
    machine.at(frame.module, node.lineno)
    return machine.binary(node.op, left, right)


def _unary(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Value:
    operand = machine.evaluate(node.operand, frame)
    machine.at(frame.module, node.lineno)
    return machine.unary(node.op, operand)


def _boolean(machine: Machine, node: ast.BoolOp, frame: Frame) -> Value:
    stops_at = isinstance(node.op, ast.Or)
    value: Value = None
    for place, each in enumerate(node.values):
        value = machine.evaluate(each, frame)
        if place == len(node.values) - 1:
            break
        machine.at(frame.module, node.lineno)
        if isinstance(value, Unknown):
            rest = [machine.evaluate(other, frame) for other in node.values[place + 1 :]]
            # Whatever it is, one of the others may settle it.
            settled = next(
                (other for other in rest if isinstance(other, bool) and other is stops_at), None
            )
            return value if settled is None else settled
        if machine.truth(value) is stops_at:
            break
    return value


def _compare(machine: Machine, node: ast.Compare, frame: Frame) -> Value:
    left = machine.evaluate(node.left, frame)
    result: Value = True
    for place, (operator, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = machine.evaluate(comparator, frame)
        machine.at(frame.module, node.lineno)
        result = machine.compare(operator, left, right)
        last = place == len(node.ops) - 1
        if not last and (isinstance(result, Unknown) or not machine.truth(result)):
            return result
        left = right
    return result


def _choice(machine: Machine, node: ast.IfExp, frame: Frame) -> Value:
    test = machine.evaluate(node.test, frame)
    machine.at(frame.module, node.lineno)
    if isinstance(test, Unknown):
        return test
    return machine.evaluate(node.body if machine.truth(test) else node.orelse, frame)


def _tuple(machine: Machine, node: ast.Tuple, frame: Frame) -> Value:
    return tuple(_elements(machine, node.elts, frame))


def _list(machine: Machine, node: ast.List, frame: Frame) -> Value:
    return _elements(machine, node.elts, frame)


def _set(machine: Machine, node: ast.Set, frame: Frame) -> Value:
    found = _elements(machine, node.elts, frame)
    return unknown_of(found) or set(map(as_key, found))


def _elements(machine: Machine, nodes: list[ast.expr], frame: Frame) -> list[Value]:
    found: list[Value] = []
    for each in nodes:
        if isinstance(each, ast.Starred):
            found += machine.iterate(machine.evaluate(each.value, frame))
        else:
            found.append(machine.evaluate(each, frame))
    return found


def _dictionary(machine: Machine, node: ast.Dict, frame: Frame) -> Value:
    found: dict[Value, Value] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            found |= operators.mapping(machine, machine.evaluate(value, frame))
        else:
            evaluated = machine.evaluate(key, frame)
            if isinstance(evaluated, Unknown):
                return evaluated
            found[as_key(evaluated)] = machine.evaluate(value, frame)
    return found


def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> Value:
    owner = machine.evaluate(node.value, frame)
    index = machine.evaluate(node.slice, frame)
    machine.at(frame.module, node.lineno)
    return machine.item(owner, index)


def _slice(machine: Machine, node: ast.Slice, frame: Frame) -> Value:
    parts = [
        None if each is None else machine.bound(machine.evaluate(each, frame))
        for each in (node.lower, node.upper, node.step)
    ]
    return window(*parts) or unknown_of(parts) or slice(*parts)


def _lambda(machine: Machine, node: ast.Lambda, frame: Frame) -> Value:
    return function_of(machine, node, frame)


def function_of(
    machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, frame: Frame
) -> Function:
    """The function of a ``def`` or a ``lambda``; its defaults are evaluated now."""
    arguments = node.args
    defaults = [machine.evaluate(each, frame) for each in arguments.defaults]
    by_keyword = [
        MISSING if each is None else machine.evaluate(each, frame) for each in arguments.kw_defaults
    ]
    inside: Frame | None = frame
    while inside is not None and inside.kind in (Kind.CLASS, Kind.MODULE):
        inside = inside.closure
    around = inside
    while around is not None:
        around.defines = True
        around = around.closure
    return Function(node, frame.module, inside, defaults, by_keyword)


def _text(machine: Machine, node: ast.JoinedStr, frame: Frame) -> Value:
    parts = [machine.evaluate(each, frame) for each in node.values]
    unknown = unknown_of([each for each in parts if type(each) is not Formed])
    if unknown is not None:
        return unknown
    text = "".join(each.text if type(each) is Formed else each for each in parts)
    return text if all(type(each) is str for each in parts) else Formed(text, machine.place)


def _formatted(machine: Machine, node: ast.FormattedValue, frame: Frame) -> Value:
    value = machine.evaluate(node.value, frame)
    style = machine.evaluate(node.format_spec, frame) if node.format_spec else ""
    if isinstance(value, Instance) and not style and value.cls.has("__str__"):
        value = machine.convert(str, [value], {})  # a path
    value = counted.plain(value)
    if isinstance(value, Unknown):
        return value
    if type(value) is Symbolic:
        return Formed(symbolic.shown(value, style), machine.place)
    if machine.made_up.writes(value) and len(style) < 8:
        shown = repr(value) if node.conversion == ord("r") else value
        return format(shown, style)
    return machine.unknown("a text of something that is not plain")


def _walrus(machine: Machine, node: ast.NamedExpr, frame: Frame) -> Value:
    value = machine.evaluate(node.value, frame)
    outside = frame
    while outside.kind is Kind.COMPREHENSION and outside.closure is not None:
        outside = outside.closure
    machine.assign(node.target, value, outside)
    return value


def _yield(machine: Machine, _node: ast.expr, _frame: Frame) -> Value:
    raise machine.unread("a yield inside an expression is not known")


EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dictionary,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Lambda: _lambda,
    ast.ListComp: list_of,
    ast.SetComp: set_of,
    ast.DictComp: dictionary_of,
    ast.GeneratorExp: comprehension,
    ast.JoinedStr: _text,
    ast.FormattedValue: _formatted,
    ast.NamedExpr: _walrus,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}
