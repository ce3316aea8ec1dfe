"""Evaluations that were not read, of a later step or after the loop: a doubt about each that comes.

Whether one comes in a later step the loop itself is asked (``course.py``).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.calls import MANAGED
from nanolint.interpreter.exceptions import CATCHABLE, let_go
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.torch import modules
from nanolint.interpreter.values import Function, Instance, Native, Unread
from nanolint.script.reaching import EVALUATES, TRAINS
from nanolint.script.training import is_optimizer
from nanolint.source.python import of_node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

STOPS = "a later step stops the run"
NOT_READ = "nanolint does not read the evaluation of a later step"
DEPTH = 3  # of functions that call each other


def unread(machine: Script, body: Iterable[ast.stmt], within: ast.stmt, frame: Frame) -> str | None:
    """A doubt about the first evaluation of ``body`` that was not read.

    The last step ended inside the statement ``within``, whose own body has been asked about.
    """
    waiting: list[ast.stmt] = [each for each in body if each is not within]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        is_if = isinstance(node, ast.If)
        was_read = id(node) in (machine.taken if is_if else machine.executed)
        if not was_read and evaluates(machine, node, frame) and _may_hold(machine, node, frame):
            return not_read(frame, node)
        if was_read:
            waiting += [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]
        elif isinstance(node, ast.If):
            waiting += node.orelse
    return None


def not_read(frame: Frame, node: ast.stmt) -> str:
    """A doubt about what ``node`` begins."""
    return f"{NOT_READ} ({frame.module.path}:{node.lineno})"


def _may_hold(machine: Script, node: ast.stmt, frame: Frame) -> bool:
    """Whether a branch may be taken in a turn that is not read, or now."""
    if not isinstance(node, ast.If):
        return True
    asked = len(machine.asked)
    value = _value(machine, node.test, frame)
    holds = not isinstance(value, (bool, int)) or bool(value)
    questions = machine.asked[asked:]
    del machine.asked[asked:]
    return holds or machine.turns.come(questions)


def _value(machine: Script, node: ast.expr, frame: Frame) -> Value:
    """What an expression is; None where that is not known."""
    try:
        return machine.evaluate(node, frame)
    except (Unread, *CATCHABLE) as error:
        let_go(error)
        return None


def evaluates(machine: Script, node: ast.AST, frame: Frame, depth: int = DEPTH) -> bool:
    """Whether it puts a model into evaluation, or calls a function of the project that does."""
    found, called = _mentions(node)
    if found is not None or depth == 0:
        return found is True
    for function in called:
        value = _called(function, frame)
        if isinstance(value, Native) and value.name == MANAGED:
            return True
        if isinstance(value, Instance) and modules.is_module(value):
            return True
        if isinstance(value, Function) and evaluates(machine, value.node, frame, depth - 1):
            return True
    return False


@of_node
def _mentions(node: ast.AST) -> tuple[bool | None, tuple[ast.expr, ...]]:
    """Whether it names itself what trains (False) or what evaluates (True), and what it calls."""
    within = list(ast.walk(node))
    names = {each.attr for each in within if isinstance(each, ast.Attribute)}
    called = tuple(each.func for each in within if isinstance(each, ast.Call))
    if names & TRAINS:
        return False, called
    return (True if names & EVALUATES else None), called


def _called(function: ast.expr, frame: Frame) -> Value:
    """What a call names: a function, or the method of an object that is no optimizer (its step
    needs no gradients either); MISSING for all else."""
    if isinstance(function, ast.Name):
        return frame.find(function.id)
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        owner = frame.find(function.value.id)
        if isinstance(owner, Instance) and not is_optimizer(owner):
            return owner.cls.find(function.attr)
    return MISSING
