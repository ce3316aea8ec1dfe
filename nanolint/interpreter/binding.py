"""What binds names: assignments and their targets, and statements whose outcome is not known."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain
from nanolint.interpreter.opening import forget_attributes
from nanolint.interpreter.scopes import MISSING, Kind
from nanolint.interpreter.values import Instance, Namespace, Unknown

if TYPE_CHECKING:
    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value


def assignment(machine: Machine, node: ast.Assign, frame: Frame) -> None:
    value = machine.evaluate(node.value, frame)
    for target in node.targets:
        machine.assign(target, value, frame)


def annotated(machine: Machine, node: ast.AnnAssign, frame: Frame) -> None:
    if frame.kind is Kind.CLASS and isinstance(node.target, ast.Name):
        shown = ast.unparse(node.annotation)
        if "ClassVar" not in shown:
            frame.names.setdefault("__annotations__", {})[node.target.id] = shown
    if node.value is not None:
        machine.assign(node.target, machine.evaluate(node.value, frame), frame)


def augmented(machine: Machine, node: ast.AugAssign, frame: Frame) -> None:
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
    elif isinstance(target, (ast.Tuple, ast.List)):
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
        raise certain(ValueError(_mismatch(len(values), len(targets))))
    values.reverse()
    for target in targets:
        assign(machine, target, values.pop(), frame)


def _mismatch(values: int, names: int) -> str:
    """Python's words."""
    if values > names:
        return f"too many values to unpack (expected {names})"
    return f"not enough values to unpack (expected {names}, got {values})"


def delete(machine: Machine, node: ast.Delete, frame: Frame) -> None:
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


def either(machine: Machine, node: ast.If, frame: Frame, test: Unknown) -> None:
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
    return isinstance(node, (ast.Pass, ast.Raise, ast.Import, ast.ImportFrom)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def forget(machine: Machine, node: ast.stmt, frame: Frame, why: Unknown) -> None:
    """Whatever a statement binds is not known from here on."""
    for each in _binders(node):
        if isinstance(each, ast.Name):
            frame.store(each.id, why)
        elif isinstance(each, ast.Attribute):
            owner = machine.evaluate(each.value, frame)
            if isinstance(owner, (Instance, Namespace)):
                machine.set_attribute(owner, each.attr, why)
        elif isinstance(each, (ast.Import, ast.ImportFrom)):
            for alias in each.names:
                frame.store((alias.asname or alias.name).partition(".")[0], why)
        else:
            frame.store(each.name, why)
    forget_attributes(node, frame, why)


@lru_cache(maxsize=4096)
def _binders(
    node: ast.stmt,
) -> tuple[
    ast.Name | ast.Attribute | ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef, ...
]:
    """What in a statement binds a name or an attribute."""
    return tuple(
        each
        for each in ast.walk(node)
        if isinstance(each, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef))
        or (isinstance(each, (ast.Name, ast.Attribute)) and isinstance(each.ctx, ast.Store))
    )
