"""Comprehensions, and what they have instead where nobody knows the numbers that they go over."""

from __future__ import annotations

import ast
from itertools import repeat
from typing import TYPE_CHECKING

from nanolint.interpreter.exceptions import let_go
from nanolint.interpreter.offsets import Copies, Draws, Repeated
from nanolint.interpreter.scopes import Frame, Kind
from nanolint.interpreter.values import Unknown, Unread
from nanolint.tape.symbolic import NotSymbolic, as_key, is_symbolic
from nanolint.tensors.rows import Rows
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value
    from nanolint.tensors.device import Device


MANY = 1 << 16  # elements of a list that the data fill


def unknown_of(values: list[Value]) -> Unknown | None:
    """The first of some values that is not known."""
    return next((each for each in values if isinstance(each, Unknown)), None)


def comprehension(
    machine: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame
) -> Iterator[Value]:
    """What it yields, as it is asked for. What it goes over is evaluated at once, as in CPython."""
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
