"""Binding of names: assignments, their targets, and statements whose outcome is not known.

Objects of which a statement that cannot be read may set attributes whose names only a run has.

``for name, value in json.load(file).items(): setattr(config, name, value)`` may change any number
that ``config`` holds, and may give it others.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, NamedTuple

from nanolint.interpreter.certain import certain
from nanolint.interpreter.records import Field
from nanolint.interpreter.scopes import MISSING, Kind
from nanolint.interpreter.values import Class, Function, Instance, Namespace, Unknown
from nanolint.source.any_name import attributes_set
from nanolint.source.python import of_node
from nanolint.tensors.dtypes import Dtype

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value


# What settings are: tensors and modules among the attributes stay as they are.
_SETTINGS = frozenset(
    {bool, int, float, complex, str, type(None), Dtype, tuple, list, dict, set, Field}
)
LATER = "assuming Python 3.14 or later: before"  # which looks up no name of an annotation


class _Call(NamedTuple):
    """``function(*arguments, **settings)``, of which the settings may be what was not known."""

    function: ast.expr
    arguments: tuple[ast.expr, ...]


def forget_attributes(node: ast.stmt, frame: Frame, why: Unknown) -> None:
    """Makes unknown what ``node`` may set by such names, itself or in what it calls."""
    for owner, beginning in attributes_set(node):
        _open(_held(owner, frame), beginning, why)
    for function, given in not_entered(node, frame):
        for owner, beginning in attributes_set(function.node):
            if isinstance(owner, ast.Name) and owner.id in given:
                _open(given[owner.id], beginning, why)


def _open(owner: Value, beginning: str, why: Unknown) -> None:
    if isinstance(owner, Instance):
        classes = [each for each in owner.cls.mro if each.module.path]
        for names in (*(each.names for each in classes), owner.attributes):
            for name in _settings(names, beginning):
                owner.attributes[name] = why
        owner.opened = why
    elif isinstance(owner, (Class, Namespace)):
        for name in _settings(owner.names, beginning):
            owner.names[name] = why


def _settings(names: dict[str, Value], beginning: str) -> list[str]:
    return [
        name
        for name, value in names.items()
        if name.startswith(beginning) and not name.startswith("__") and type(value) in _SETTINGS
    ]


def _held(node: ast.expr, frame: Frame) -> Value:
    """The object that a name or an attribute stands for, where that takes no reading."""
    if isinstance(node, ast.Name):
        return frame.find(node.id)
    if isinstance(node, ast.Attribute):
        owner = _held(node.value, frame)
        if isinstance(owner, Instance):
            return owner.attributes.get(node.attr, MISSING)
        if isinstance(owner, Namespace):
            return owner.names.get(node.attr, MISSING)
    return MISSING


def not_entered(node: ast.stmt, frame: Frame) -> Iterator[tuple[Function, dict[str, Value]]]:
    """The functions of the program that ``node`` calls with settings by their names, as in
    ``config.update(**settings)``, and what their names stand for."""
    for call in _calls(node):
        function = _held(call.function, frame)
        given = [_held(each, frame) for each in call.arguments]
        if function is MISSING and isinstance(call.function, ast.Attribute):
            owner = _held(call.function.value, frame)
            if isinstance(owner, Instance):
                function, given = owner.cls.find(call.function.attr), [owner, *given]
        if isinstance(function, Function):
            spec = function.node.args
            names = [each.arg for each in (*spec.posonlyargs, *spec.args)]
            yield function, dict(zip(names, given, strict=False))


@of_node
def _calls(node: ast.stmt) -> tuple[_Call, ...]:
    return tuple(
        _Call(each.func, tuple(each.args))
        for each in ast.walk(node)
        if isinstance(each, ast.Call)
        and any(keyword.arg is None for keyword in each.keywords)
        and isinstance(each.func, (ast.Name, ast.Attribute))
    )


def assignment(machine: Machine, node: ast.Assign, frame: Frame) -> None:
    value = machine.evaluate(node.value, frame)
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            parts = [*target.elts, *node.value.elts]
            given, names = len(node.value.elts), len(target.elts)
            if given != names and not any(isinstance(each, ast.Starred) for each in parts):
                raise certain(ValueError(_mismatch(given, names)), anywhere=True)
        machine.assign(target, value, frame)


def look_up(
    machine: Machine, frame: Frame, asked: Iterable[ast.expr | None], doubt: str = LATER
) -> None:
    """Says a ``doubt`` if a name in what may be ``asked`` has no value."""
    module = frame.module
    if not module.path or module.starred or (doubt is LATER and "annotations" in module.names):
        return
    every = [each for one in asked if one is not None for each in ast.walk(one)]
    names = [each for each in every if isinstance(each, ast.Name)]
    bound = {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    bound.update(each.arg for each in every if isinstance(each, ast.arg))
    for name in dict.fromkeys(each.id for each in names):
        if not (name in bound or hasattr(builtins, name)) and frame.find(name) is MISSING:
            machine.card.tape.assume(f"{doubt}, {name} is not defined ({machine.place})")


def annotated(machine: Machine, node: ast.AnnAssign, frame: Frame) -> None:
    if frame.kind in (Kind.CLASS, Kind.MODULE):
        look_up(machine, frame, [node.annotation])
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
        error = ValueError(_mismatch(len(values), len(targets)))
        raise error if _is_of_texts(value) else certain(error)
    values.reverse()
    for target in targets:
        assign(machine, target, values.pop(), frame)


def _is_of_texts(value: Value) -> bool:
    """Whether these are words of a line, or numbers: how many there are may be the machine's."""
    return isinstance(value, (str, list)) and all(isinstance(each, (str, int)) for each in value)


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
