"""Generators: a function that yields is read as far as its next value is asked for."""

from __future__ import annotations

import ast
from collections.abc import Generator
from typing import TYPE_CHECKING

from nanolint.interpreter.statements import BREAK, RETURN, enter
from nanolint.source.python import of_node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Generated, Value

    # Yields values and is sent others; returns how the statements ended.
    Steps = Generator[Value, Value, object]


def generated(
    machine: Machine, body: Iterable[ast.stmt], frame: Frame
) -> Generator[Value, Value, Value]:
    """Yields the values of a generator function; returns what the function returns."""
    try:
        yield from _run(machine, body, frame)
    finally:
        frame.leave()
    return frame.result


def sent(machine: Machine, owner: Generated, value: Value = None) -> Value:
    """``generator.send(value)``."""
    if not isinstance(owner.values, Generator):
        raise machine.unread("the value sent to an iterator is not known")
    return owner.values.send(value)


def _run(machine: Machine, body: Iterable[ast.stmt], frame: Frame) -> Steps:
    for node in body:
        if not _yields(node):
            ended = machine.execute((node,), frame)
        else:
            machine.step()
            machine.at(frame.module, node.lineno)
            ended = yield from _statement(machine, node, frame)
        if ended is not None:
            return ended
    return None


def _statement(machine: Machine, node: ast.stmt, frame: Frame) -> Steps:
    if isinstance(node, (ast.Expr, ast.Assign)) and isinstance(
        node.value, (ast.Yield, ast.YieldFrom)
    ):
        value = yield from _value(machine, node.value, frame)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                machine.assign(target, value, frame)
        return None
    if isinstance(node, ast.If):
        test = machine.truth(machine.evaluate(node.test, frame))
        return (yield from _run(machine, node.body if test else node.orelse, frame))
    if isinstance(node, ast.While):
        return (yield from _while(machine, node, frame))
    if isinstance(node, ast.For):
        return (yield from _for(machine, node, frame))
    if isinstance(node, ast.With):
        return (yield from _with(machine, node.items, node.body, frame))
    if isinstance(node, ast.Try) and not node.orelse:
        try:
            ended = yield from _run(machine, node.body, frame)
        finally:
            last = machine.execute(node.finalbody, frame)
        return ended if last is None else last
    raise machine.unread(f"a yield in {type(node).__name__.lower()} is not known")


def _value(
    machine: Machine, node: ast.Yield | ast.YieldFrom, frame: Frame
) -> Generator[Value, Value, Value]:
    """What is sent for what it yields, or returned by what it yields from."""
    if isinstance(node, ast.YieldFrom):
        return (yield from machine.iterate(machine.evaluate(node.value, frame)))
    # No name holds it: whoever asked for it does.
    return (yield None if node.value is None else machine.evaluate(node.value, frame))


def _while(machine: Machine, node: ast.While, frame: Frame) -> Steps:
    while machine.goes_on(machine.evaluate(node.test, frame)):
        machine.step()
        ended = yield from _run(machine, node.body, frame)
        if ended is BREAK or ended is RETURN:
            return ended if ended is RETURN else None
        machine.at(frame.module, node.lineno)
    return (yield from _run(machine, node.orelse, frame))


def _for(machine: Machine, node: ast.For, frame: Frame) -> Steps:
    for value in machine.endless(machine.evaluate(node.iter, frame)):
        machine.step()
        machine.assign(node.target, value, frame)
        del value
        ended = yield from _run(machine, node.body, frame)
        if ended is BREAK or ended is RETURN:
            return ended if ended is RETURN else None
    return (yield from _run(machine, node.orelse, frame))


def _with(machine: Machine, items: list[ast.withitem], body: list[ast.stmt], frame: Frame) -> Steps:
    if not items:
        return (yield from _run(machine, body, frame))
    with enter(machine, items[0], frame):
        return (yield from _with(machine, items[1:], body, frame))


@of_node
def _yields(node: ast.stmt) -> bool:
    unseen: list[ast.AST] = [node]
    while unseen:
        each = unseen.pop()
        if isinstance(each, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(each, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            unseen += ast.iter_child_nodes(each)
    return False
