"""What only a later step does, or what comes behind the loop: doubted where it evaluates."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.memory.loop.reading.passing import EVALUATES, TRAINS
from nanolint.memory.model.reading.calls import MANAGED
from nanolint.memory.model.reading.exceptions import CATCHABLE
from nanolint.memory.model.reading.scopes import MISSING
from nanolint.memory.model.reading.values import Function, Native, Unread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.memory.loop.reading.machine import Script
    from nanolint.memory.model.reading.scopes import Frame
    from nanolint.memory.model.reading.values import Value

DEPTH = 3  # of functions that call each other


def unread(machine: Script, body: Iterable[ast.stmt], within: ast.stmt, frame: Frame) -> str | None:
    """A doubt about the first evaluation of ``body`` that was not read.

    The last step ended inside the statement ``within``, whose own body has been asked about.
    """
    waiting: list[ast.stmt] = [each for each in body if each is not within]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        is_if = isinstance(node, ast.If)
        was_read = id(node) in (machine.taken if is_if else machine.executed)
        if not was_read and _evaluates(machine, node, frame) and _may_run(machine, node, frame):
            return f"what a later step evaluates is not read ({frame.module.path}:{node.lineno})"
        if was_read:
            waiting += [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]
        elif isinstance(node, ast.If):
            waiting += node.orelse
    return None


def _may_run(machine: Script, node: ast.stmt, frame: Frame) -> bool:
    return not isinstance(node, ast.If) or _may_hold(machine, node.test, frame)


def _may_hold(machine: Script, test: ast.expr, frame: Frame) -> bool:
    """Whether a test may be true in a later step: what has to do with remainders may."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return all(_may_hold(machine, each, frame) for each in test.values)
    if any(isinstance(each, ast.Mod) for each in ast.walk(test)):
        return True
    try:
        return machine.evaluate(test, frame) is not False
    except (Unread, *CATCHABLE):
        return True


def _evaluates(machine: Script, node: ast.AST, frame: Frame, depth: int = DEPTH) -> bool:
    """Whether it puts a model into evaluation, or calls a function of the project that does."""
    found = False
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and each.attr in TRAINS:
            return False
        found = found or (isinstance(each, ast.Attribute) and each.attr in EVALUATES)
    if found or depth == 0:
        return found
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
            value: Value = frame.find(each.func.id)
            if isinstance(value, Native) and value.name == MANAGED:
                return True
            known = value is not MISSING and isinstance(value, Function)
            if known and _evaluates(machine, value.node, frame, depth - 1):
                return True
    return False
