"""Statements."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.memory.model.reading.expressions import function_of
from nanolint.memory.model.reading.scopes import MISSING, Kind
from nanolint.memory.model.reading.values import (
    Class,
    Instance,
    Manager,
    Namespace,
    Place,
    Raised,
    Unknown,
    Unread,
)
from nanolint.memory.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nanolint.memory.model.reading.machine import Machine
    from nanolint.memory.model.reading.scopes import Frame
    from nanolint.memory.model.reading.values import Value

BREAK, CONTINUE, RETURN = "break", "continue", "return"

# What a program that is read may raise and catch: Python's own of these.
CATCHABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    OSError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
    Raised,
)


def execute(machine: Machine, body: Iterable[ast.stmt], frame: Frame) -> object:
    """Run ``body``; BREAK, CONTINUE or RETURN where it ended so."""
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


def read_module(machine: Machine, body: Iterable[ast.stmt], frame: Frame) -> None:
    """The statements of a module: what one of them cannot tell, only those that use it miss."""
    for node in body:
        why = _failure(machine, node, frame)
        if why is not None:
            forget(machine, node, frame, why)


def _failure(machine: Machine, node: ast.stmt, frame: Frame) -> Unknown | None:
    """Why a statement could not be read to its end."""
    try:
        execute(machine, (node,), frame)
    except Unread as error:
        return Unknown(error.reason, error.place)
    except CATCHABLE as error:
        reason = f"it raises {type(error).__name__}: {error}"
        return Unknown(reason, Place(frame.module.path, node.lineno))
    return None


def _expression(machine: Machine, node: ast.Expr, frame: Frame) -> None:
    machine.evaluate(node.value, frame)


def _assignment(machine: Machine, node: ast.Assign, frame: Frame) -> None:
    value = machine.evaluate(node.value, frame)
    for target in node.targets:
        machine.assign(target, value, frame)


def _annotated(machine: Machine, node: ast.AnnAssign, frame: Frame) -> None:
    if frame.kind is Kind.CLASS and isinstance(node.target, ast.Name):
        shown = ast.unparse(node.annotation)
        if "ClassVar" not in shown:
            frame.names.setdefault("__annotations__", {})[node.target.id] = shown
    if node.value is not None:
        machine.assign(node.target, machine.evaluate(node.value, frame), frame)


def _augmented(machine: Machine, node: ast.AugAssign, frame: Frame) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        value = machine.evaluate(ast.Name(target.id, ast.Load(), lineno=node.lineno), frame)
        right = machine.evaluate(node.value, frame)
        value = machine.in_place(node.op, value, right)
        machine.assign(target, value, frame)
        return
    if isinstance(target, ast.Attribute):
        owner = machine.evaluate(target.value, frame)
        value = machine.attribute(owner, target.attr)
        value = machine.in_place(node.op, value, machine.evaluate(node.value, frame))
        machine.set_attribute(owner, target.attr, value)
        return
    owner = machine.evaluate(target.value, frame)
    index = machine.evaluate(target.slice, frame)
    value = machine.item(owner, index)
    value = machine.in_place(node.op, value, machine.evaluate(node.value, frame))
    machine.set_item(owner, index, value)


def assign(machine: Machine, target: ast.expr, value: Value, frame: Frame) -> None:
    """Bind ``target``."""
    if isinstance(target, ast.Name):
        frame.store(target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(machine, target.elts, value, frame)
    elif isinstance(target, ast.Attribute):
        machine.set_attribute(machine.evaluate(target.value, frame), target.attr, value)
    elif isinstance(target, ast.Subscript):
        owner = machine.evaluate(target.value, frame)
        machine.set_item(owner, machine.evaluate(target.slice, frame), value)
    elif isinstance(target, ast.Starred):
        assign(machine, target.value, list(machine.iterate(value)), frame)


def _unpack(machine: Machine, targets: list[ast.expr], value: Value, frame: Frame) -> None:
    if isinstance(value, Unknown):
        for target in targets:
            assign(machine, target, value, frame)
        return
    values = list(machine.iterate(value))
    star = next(
        (place for place, each in enumerate(targets) if isinstance(each, ast.Starred)), None
    )
    if star is not None:
        behind = len(targets) - star - 1
        stop = len(values) - behind
        values[star:stop] = [values[star:stop]]
    if len(values) != len(targets):
        raise ValueError(f"{len(values)} values for {len(targets)} names")
    values.reverse()
    for target in targets:
        assign(machine, target, values.pop(), frame)


def _delete(machine: Machine, node: ast.Delete, frame: Frame) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            if frame.names.pop(target.id, MISSING) is MISSING:
                raise NameError(target.id)
        elif isinstance(target, ast.Attribute):
            machine.delete_attribute(machine.evaluate(target.value, frame), target.attr)
        elif isinstance(target, ast.Subscript):
            owner = machine.evaluate(target.value, frame)
            index = machine.evaluate(target.slice, frame)
            machine.delete_item(owner, index)


def _if(machine: Machine, node: ast.If, frame: Frame) -> object:
    test = machine.evaluate(node.test, frame)
    machine.at(frame.module, node.lineno)
    if isinstance(test, Unknown):
        _either(machine, node, frame, test)
        return None
    if isinstance(test, Tensor):
        raise machine.unread("a branch that depends on the contents of a tensor")
    return machine.execute(node.body if machine.truth(test) else node.orelse, frame)


def _either(machine: Machine, node: ast.If, frame: Frame, test: Unknown) -> None:
    """Both branches are possible: what they bind is not known. Raises Unread if they do more."""
    for each in (*node.body, *node.orelse):
        if not _only_binds(each):
            raise test.unread()
    forget(machine, node, frame, test)


def _only_binds(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return all(_only_binds(each) for each in (*node.body, *node.orelse))
    if isinstance(node, ast.Assign):
        return all(
            isinstance(each, ast.Name)
            or (isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name))
            for each in node.targets
        )
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = ast.unparse(node.value.func)
        return called == "print" or called.startswith(("warnings.", "logging.", "logger."))
    return isinstance(node, ast.Pass | ast.Raise | ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def forget(machine: Machine, node: ast.stmt, frame: Frame, why: Unknown) -> None:
    """Whatever a statement binds is not known from here on."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            frame.store(each.id, why)
        elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            owner = machine.evaluate(each.value, frame)
            if isinstance(owner, Instance | Namespace):
                machine.set_attribute(owner, each.attr, why)
        elif isinstance(each, ast.Import | ast.ImportFrom):
            for alias in each.names:
                frame.store((alias.asname or alias.name).partition(".")[0], why)
        elif isinstance(each, ast.FunctionDef | ast.ClassDef):
            frame.store(each.name, why)


def _for(machine: Machine, node: ast.For, frame: Frame) -> object:
    for value in machine.iterate(machine.evaluate(node.iter, frame)):
        machine.step()
        machine.assign(node.target, value, frame)
        del value
        ended = machine.execute(node.body, frame)
        if ended is BREAK:
            return None
        if ended is RETURN:
            return ended
    return machine.execute(node.orelse, frame)


def _while(machine: Machine, node: ast.While, frame: Frame) -> object:
    while True:
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
    first, rest = items[0], items[1:]
    manager = machine.evaluate(first.context_expr, frame)
    if isinstance(manager, Manager):
        with manager.enter() as entered:
            if first.optional_vars is not None:
                machine.assign(first.optional_vars, entered, frame)
            return _entered(machine, rest, body, frame)
    if not isinstance(manager, Instance):
        if isinstance(manager, Unknown):
            raise manager.unread()
        raise machine.unread(f"the context manager {manager!r} is not known")
    value = machine.call(machine.attribute(manager, "__enter__"), [])
    if first.optional_vars is not None:
        machine.assign(first.optional_vars, value, frame)
    del value
    ended = _entered(machine, rest, body, frame)
    machine.call(machine.attribute(manager, "__exit__"), [None, None, None])
    return ended


def _try(machine: Machine, node: ast.Try, frame: Frame) -> object:
    if _may_lack(machine, node):
        forget(machine, node, frame, machine.unknown("whether a package is installed"))
        return None
    try:
        ended = machine.execute(node.body, frame)
        if ended is None:
            ended = machine.execute(node.orelse, frame)
    except CATCHABLE as error:
        error.__traceback__ = None  # it would hold all that was evaluated
        handler = _handler(machine, node.handlers, error, frame)
        if handler is None:
            raise
        if handler.name:
            frame.store(handler.name, error.value if isinstance(error, Raised) else error)
        ended = machine.execute(handler.body, frame)
        if handler.name:
            frame.names.pop(handler.name, None)
    finished = machine.execute(node.finalbody, frame)
    return finished if finished is not None else ended


def _may_lack(machine: Machine, node: ast.Try) -> bool:
    """Whether it imports what may or may not be installed, and goes on without."""
    caught = any(
        handler.type is None
        or "Error" in ast.unparse(handler.type)
        or "Exception" in ast.unparse(handler.type)
        for handler in node.handlers
    )
    return caught and any(
        machine.is_foreign(alias.name if isinstance(each, ast.Import) else each.module or "")
        for each in node.body
        if isinstance(each, ast.Import) or (isinstance(each, ast.ImportFrom) and not each.level)
        for alias in each.names
    )


def _handler(
    machine: Machine, handlers: list[ast.ExceptHandler], error: Exception, frame: Frame
) -> ast.ExceptHandler | None:
    for handler in handlers:
        if handler.type is None:
            return handler
        kinds = machine.evaluate(handler.type, frame)
        value = error.value if isinstance(error, Raised) else error
        if isinstance(kinds, Unknown):
            raise kinds.unread()
        if machine.instance_of(value, kinds):
            return handler
    return None


def _raise(machine: Machine, node: ast.Raise, frame: Frame) -> None:
    if node.exc is None:
        raise machine.unread("an exception that is raised again")
    value = machine.evaluate(node.exc, frame)
    machine.at(frame.module, node.lineno)
    if isinstance(value, type | Class):
        value = machine.call(value, [])
    if isinstance(value, Instance):
        raise Raised(value)
    if isinstance(value, CATCHABLE):
        raise value
    raise machine.unread(f"raises {value!r}")


def _assert(machine: Machine, node: ast.Assert, frame: Frame) -> None:
    test = machine.evaluate(node.test, frame)
    machine.at(frame.module, node.lineno)
    if isinstance(test, Unknown | Tensor) or machine.truth(test):
        return
    message = None if node.msg is None else machine.evaluate(node.msg, frame)
    said = message if isinstance(message, str) else ast.unparse(node.test)
    raise AssertionError(said)


def _function(machine: Machine, node: ast.FunctionDef, frame: Frame) -> None:
    decorators = [machine.evaluate(each, frame) for each in node.decorator_list]
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
    module = machine.load(name)
    for alias in node.names:
        if alias.name == "*":
            if isinstance(module, Namespace):
                for each, value in module.names.items():
                    if not each.startswith("_"):
                        frame.store(each, value)
            continue
        frame.store(alias.asname or alias.name, machine.member(module, alias.name))


def _nothing(_machine: Machine, _node: ast.stmt, _frame: Frame) -> None:
    return None


def _ends(how: str) -> Callable[..., object]:
    return lambda _machine, _node, _frame: how


STATEMENTS: dict[type[ast.stmt], Callable[..., object]] = {
    ast.Expr: _expression,
    ast.Assign: _assignment,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.Return: _return,
    ast.With: _with,
    ast.Try: _try,
    ast.Raise: _raise,
    ast.Assert: _assert,
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
