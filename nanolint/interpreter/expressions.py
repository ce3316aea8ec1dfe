"""Expressions, evaluated in CPython's order; comprehensions among them.

Names of these functions hold a value for as long as CPython's stack holds it: so a temporary tensor
is released in the place in which PyTorch releases it.

A comprehension over unknown numbers has a stand-in.
"""

from __future__ import annotations

import ast
from itertools import repeat
from typing import TYPE_CHECKING

from nanolint.interpreter import counted, operators
from nanolint.interpreter.binding import look_up
from nanolint.interpreter.calls import settle
from nanolint.interpreter.certain import certain
from nanolint.interpreter.exceptions import let_go
from nanolint.interpreter.scopes import MISSING, Frame, Kind
from nanolint.interpreter.values import CONTENTS, Formed, Function, Instance, Unknown, Unread
from nanolint.interpreter.watched import Copies, Draws, Repeated, window
from nanolint.tape import symbolic
from nanolint.tape.symbolic import NotSymbolic, Symbolic, as_key, is_symbolic
from nanolint.tensors.tensor import Rows, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value
    from nanolint.tensors.device import Device


MANY = 65_537  # elements of a list that the data fill; a prime, so that it is no other number


def unknown_of(values: list[Value]) -> Unknown | None:
    """The first of some values that is not known."""
    return next((each for each in values if isinstance(each, Unknown)), None)


def comprehension(
    machine: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame
) -> Iterator[Value]:
    """Yields its elements as they are asked for. Its source is evaluated at once, as in CPython."""
    inner = Frame(frame.module, {}, frame, kind=Kind.COMPREHENSION)
    inert = _is_unknown(node.elt, frame)
    over = machine.evaluate(node.generators[0].iter, inner)

    def element() -> Value:
        return machine.evaluate(node.elt, inner)

    return _turns(machine, node.generators, inner, over, element, inert=inert)


def _is_unknown(element: ast.expr, frame: Frame) -> bool:
    """Whether an element is made of what is not known, and of nothing else: then it is not known
    itself, and what is called on the way changes nothing that is: ``[queue.popleft() for _ in r]``.
    """
    if not (isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute)):
        return False
    if not isinstance(element.func.value, ast.Name) or element.args or element.keywords:
        return False
    return type(frame.find(element.func.value.id)) is Unknown


def _turns(
    machine: Machine,
    generators: list[ast.comprehension],
    frame: Frame,
    over: Value,
    element: Callable[[], Value],
    *,
    inert: bool = False,
) -> Iterator[Value]:
    first, rest = generators[0], generators[1:]
    if inert and isinstance(over, range) and over and not rest and not first.ifs:
        machine.bounded(len(over))
        machine.assign(first.target, over[-1], frame)
        yield from repeat(element(), len(over))
        return
    place = machine.passed_through(over) if not rest and not first.ifs else None
    if place is not None:
        machine.assign(first.target, place, frame)
        yield from _of_data(machine, element)
        return
    values: Iterator[Value]
    if isinstance(over, Rows):
        values = Copies(over)
    else:
        values = Repeated(over) if type(over) is list else machine.iterate(over)
    if isinstance(values, Draws | Repeated | Copies) and not rest and not first.ifs:
        yield from _of_each(machine, first.target, frame, values, element)
        return
    for value in values:
        machine.step()
        machine.assign(first.target, value, frame)
        del value
        if all(machine.truth(machine.evaluate(test, frame)) for test in first.ifs):
            if rest:
                inner = machine.evaluate(rest[0].iter, frame)
                yield from _turns(machine, rest, frame, inner, element)
            else:
                yield element()


def _of_each(
    machine: Machine,
    target: ast.expr,
    frame: Frame,
    values: Draws | Repeated | Copies,
    element: Callable[[], Value],
) -> Iterator[Value]:
    """What is made of each of some numbers that nobody knows, or of the values of a list.

    A tensor of the host, alike the one before, stands for all that follow and are made of the like.
    """
    before: Value = None
    for place, value in enumerate(values, 1):
        machine.step()
        machine.assign(target, value, frame)
        del value
        calls, events = machine.calls, len(machine.card.tape.events)
        made = [element()]  # not held here while it is used: it may lie on the card
        computes = machine.calls == calls and len(machine.card.tape.events) == events
        again = computes and _alike(made[0], before, machine.host)
        before = made[0] if _is_of_host(made[0], machine.host) else None
        yield made.pop()
        if again:
            rest = values.skip()
            if is_symbolic(rest):
                raise Alike(before, place + rest)
            yield from repeat(before, rest)


def _of_data(machine: Machine, element: Callable[[], Value]) -> Iterator[Value]:
    """What is made for each place in the data: as many as there may be, all like one."""
    written = len(machine.card.tape.events)
    made = element()
    if len(machine.card.tape.events) != written:
        raise machine.unread("how much data goes to the card is not known")
    yield from repeat(made, MANY)


class Alike(NotSymbolic):
    """Of as many elements as a formula says each is like ``row``: the rows of a batch."""

    def __init__(self, row: Value, count: int) -> None:
        super().__init__("so many elements as a formula says")
        self.row, self.count = row, count


def _is_of_host(value: Value, host: Device) -> bool:
    return isinstance(value, Tensor) and value.device is host and value.node is None


def _alike(one: Value, other: Value, host: Device) -> bool:
    if not (_is_of_host(one, host) and _is_of_host(other, host)):
        return False
    return (one.shape, one.strides, one.dtype) == (other.shape, other.strides, other.dtype)


def list_of(machine: Machine, node: ast.ListComp, frame: Frame) -> Value:
    try:
        return list(comprehension(machine, node, frame))
    except Alike as alike:
        let_go(alike)
        return Rows(alike.row, alike.count)
    except Unread as error:
        let_go(error)
        look_up(machine, frame, [node], "assuming that a list is empty: else")
        return machine.unlisted(node, frame, error)


def set_of(machine: Machine, node: ast.SetComp, frame: Frame) -> Value:
    found = list(comprehension(machine, node, frame))
    return unknown_of(found) or set(map(as_key, found))


def dictionary_of(machine: Machine, node: ast.DictComp, frame: Frame) -> Value:
    inner = Frame(frame.module, {}, frame, kind=Kind.COMPREHENSION)

    def element() -> tuple[Value, Value]:
        key = machine.evaluate(node.key, inner)
        return as_key(key), machine.evaluate(node.value, inner)

    over = machine.evaluate(node.generators[0].iter, inner)
    found = list(_turns(machine, node.generators, inner, over, element))
    return unknown_of([key for key, _ in found]) or dict(found)


def _constant(machine: Machine, node: ast.Constant, frame: Frame) -> Value:
    value = node.value
    kind = type(value)
    return machine.number(node, frame) if kind is int or kind is float else value


def _name(machine: Machine, node: ast.Name, frame: Frame) -> Value:
    value = frame.find(node.id)
    if value is MISSING:
        unbound = frame.unbound(node.id, node.lineno)
        if unbound is not None:
            machine.at(frame.module, node.lineno)
            raise unbound
        try:
            value = machine.builtin(node.id, frame.module)
        except NameError:
            machine.at(frame.module, node.lineno)
            raise
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
        if isinstance(value, Tensor):
            value = machine.unknown(CONTENTS)
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
    try:
        return machine.item(owner, index)
    except KeyError as error:
        if type(owner) is dict and machine.lacks(owner, ast.unparse(node.value), index):
            certain(error)
        raise


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
    if isinstance(value, Tensor) and value.shape and style and node.conversion < 0:
        machine.at(frame.module, node.lineno)
        raise certain(TypeError("unsupported format string passed to Tensor.__format__"))
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
