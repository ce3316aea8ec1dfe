"""Statements, and the order in which they run."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

from nanolint.interpreter.binding import annotated, assignment, augmented, delete, either, look_up
from nanolint.interpreter.certain import certain
from nanolint.interpreter.contexts import entered
from nanolint.interpreter.exceptions import attempt, check, throw
from nanolint.interpreter.expressions import function_of
from nanolint.interpreter.matching import match
from nanolint.interpreter.values import Namespace, Unknown
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value

BREAK, CONTINUE, RETURN = "break", "continue", "return"


def execute(machine: Machine, body: Iterable[ast.stmt], frame: Frame) -> object:
    """Runs ``body``; returns BREAK, CONTINUE or RETURN if it ended so."""
    for node in body:
        machine.step()
        machine.at(frame.module, node.lineno)
        statement = STATEMENTS.get(type(node))
        if statement is None:
            raise machine.unread(f"the statement {type(node).__name__.lower()} is not known")
        ended = statement(machine, node, frame)
        if ended is not None:
            return ended
    return None


def _expression(machine: Machine, node: ast.Expr, frame: Frame) -> None:
    machine.evaluate(node.value, frame)


def _if(machine: Machine, node: ast.If, frame: Frame) -> object:
    test = machine.evaluate(node.test, frame)
    machine.at(frame.module, node.lineno)
    if isinstance(test, Unknown):
        either(machine, node, frame, test)
        return None
    if isinstance(test, Tensor):
        raise machine.unread("a branch that depends on the contents of a tensor")
    return machine.execute(node.body if machine.truth(test) else node.orelse, frame)


def _for(machine: Machine, node: ast.For, frame: Frame) -> object:
    return for_each(machine, node, frame, machine.iterate(machine.evaluate(node.iter, frame)))


def for_each(machine: Machine, node: ast.For, frame: Frame, values: Iterator[Value]) -> object:
    """Runs the body of a loop for each of ``values``; returns RETURN if that ends the call."""
    for value in values:
        machine.step()
        machine.assign(node.target, value, frame)
        del value
        ended = machine.execute(node.body, frame)
        if ended is BREAK:
            return None
        if ended is RETURN:
            return ended
    return machine.execute(node.orelse, frame)


def while_true(
    machine: Machine, node: ast.While, frame: Frame, *, most: int | None = None
) -> object:
    """Runs a ``while`` loop; returns RETURN if that ends the call. ``most`` bounds its turns."""
    for turn in count():
        if turn == most:
            machine.at(frame.module, node.lineno)
            raise machine.unread("how often a loop turns is not known")
        machine.step()
        test = machine.evaluate(node.test, frame)
        machine.at(frame.module, node.lineno)
        if not machine.truth(test):
            return machine.execute(node.orelse, frame)
        ended = machine.execute(node.body, frame)
        if ended is BREAK:
            return None
        if ended is RETURN:
            return ended
    return None


def _return(machine: Machine, node: ast.Return, frame: Frame) -> object:
    frame.result = None if node.value is None else machine.evaluate(node.value, frame)
    return RETURN


def _with(machine: Machine, node: ast.With, frame: Frame) -> object:
    return _entered(machine, node.items, node.body, frame)


def _entered(
    machine: Machine, items: list[ast.withitem], body: list[ast.stmt], frame: Frame
) -> object:
    if not items:
        return machine.execute(body, frame)
    with enter(machine, items[0], frame):
        return _entered(machine, items[1:], body, frame)


@contextmanager
def enter(machine: Machine, item: ast.withitem, frame: Frame) -> Iterator[None]:
    """One manager of a ``with`` statement, around its body."""
    with entered(machine, machine.evaluate(item.context_expr, frame)) as value:
        if item.optional_vars is not None:
            machine.assign(item.optional_vars, value, frame)
        del value
        yield


def _function(machine: Machine, node: ast.FunctionDef, frame: Frame) -> None:
    decorators = [machine.evaluate(each, frame) for each in node.decorator_list]
    given = node.args
    named = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    look_up(machine, frame, [node.returns, *(each.annotation for each in named if each)])
    value: Value = function_of(machine, node, frame)
    for decorator in reversed(decorators):
        value = machine.decorate(decorator, value)
    frame.store(node.name, value)


def _class(machine: Machine, node: ast.ClassDef, frame: Frame) -> None:
    decorators = [machine.evaluate(each, frame) for each in node.decorator_list]
    value: Value = machine.define(node, frame)
    for decorator in reversed(decorators):
        value = machine.decorate(decorator, value)
    frame.store(node.name, value)


def _import(machine: Machine, node: ast.Import, frame: Frame) -> None:
    for alias in node.names:
        module = machine.load(alias.name)
        if alias.asname is None:
            first = alias.name.partition(".")[0]
            module = machine.load(first)
        frame.store(alias.asname or alias.name.partition(".")[0], module)


def _import_from(machine: Machine, node: ast.ImportFrom, frame: Frame) -> None:
    name = machine.absolute(node.module or "", node.level, frame.module)
    if not name:  # ``from . import model`` in a script, which ``python -m`` starts
        for alias in node.names:
            frame.store(alias.asname or alias.name, machine.load(alias.name))
        return
    module = machine.load(name)
    for alias in node.names:
        if alias.name == "*":
            starred = module if isinstance(module, Unknown) else module.starred
            if isinstance(module, Namespace) and not module.path:
                starred = machine.unknown(f"other names of {name}")
            frame.module.starred = frame.module.starred or starred
            if isinstance(module, Namespace):
                _store_all(machine, module, frame)
            continue
        try:
            found = machine.member(module, alias.name)
        except AttributeError as error:
            words = f"cannot import name '{alias.name}' from '{name}'"
            raise certain(ImportError(words)) from error
        frame.store(alias.asname or alias.name, found)


def _store_all(machine: Machine, module: Namespace, frame: Frame) -> None:
    """What ``import *`` binds: the names that the module lists, else those without underscore."""
    listed = module.names.get("__all__")
    if isinstance(listed, (list, tuple)) and all(isinstance(each, str) for each in listed):
        for each in listed:
            frame.store(str(each), machine.member(module, str(each)))
        return
    for each, value in list(module.names.items()):
        if not each.startswith("_"):
            given = value if listed is None else machine.unknown("the list __all__")
            frame.store(each, given)


def _nothing(_machine: Machine, _node: ast.stmt, _frame: Frame) -> None:
    return None


def _ends(how: str) -> Callable[..., object]:
    return lambda _machine, _node, _frame: how


STATEMENTS: dict[type[ast.stmt], Callable[..., object]] = {
    ast.Expr: _expression,
    ast.Assign: assignment,
    ast.AnnAssign: annotated,
    ast.AugAssign: augmented,
    ast.Delete: delete,
    ast.If: _if,
    ast.Match: match,
    ast.For: _for,
    ast.While: while_true,
    ast.Return: _return,
    ast.With: _with,
    ast.Try: attempt,
    ast.Raise: throw,
    ast.Assert: check,
    ast.FunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Pass: _nothing,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.Break: _ends(BREAK),
    ast.Continue: _ends(CONTINUE),
}
