"""Makes unknown the values that a statement which cannot be read may have bound or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.binding import forget, not_entered
from nanolint.interpreter.forms import PLAIN
from nanolint.interpreter.values import Function, Instance, Unknown
from nanolint.interpreter.watched import Index
from nanolint.script.changes import (
    called,
    changed,
    changed_of,
    loaded,
    set_by_place,
    set_to_numbers,
)
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    import ast

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script


def forget_all(machine: Script, node: ast.stmt, frame: Frame, why: Unknown) -> None:
    """Makes unknown all that it binds, and all that it changes in place."""
    forget_numbers(node, frame)
    counts = [name for name in set_to_numbers(node) if isinstance(frame.find(name), (int, Index))]
    forget(machine, node, frame, why)
    for name in counts:
        frame.store(name, Index(why.reason, why.place, object()))
    for name in changed(node):
        value = frame.find(name)
        if isinstance(value, list) and name in set_by_place(node):
            value[:] = [_unknown_like(each, why) for each in value]
        elif isinstance(value, (list, dict, set)):
            _forget_settings(value, why)
            rebind(frame, name, why)
    for owner, attribute in changed_of(node):
        _forget_held(machine, frame.find(owner), attribute, why)
    for function, given in not_entered(node, frame):
        for owner, attribute in changed_of(function.node):
            _forget_held(machine, given.get(owner), attribute, why)
    for called_name in called(node):
        value = frame.find(called_name)
        if isinstance(value, Function) and value.closure is not None:
            for name in changed(value.node):
                found = value.closure.find(name)
                if isinstance(found, (list, dict, set)):
                    rebind(value.closure, name, why)


def forget_numbers(node: ast.stmt, frame: Frame) -> None:
    """It may have written into any tensor that it names, or that an object holds."""
    for name in loaded(node):
        value = frame.find(name)
        inside = value.attributes.values() if isinstance(value, Instance) else (value,)
        for each in inside:
            if isinstance(each, Tensor) and each.storage is not None:
                each.storage.changed = True


def _forget_held(machine: Script, holder: Value, attribute: str, why: Unknown) -> None:
    held = holder.attributes.get(attribute) if isinstance(holder, Instance) else None
    if isinstance(held, (list, dict, set)):
        _forget_settings(held, why)
        machine.set_attribute(holder, attribute, why)


def _forget_settings(held: list[Value] | dict[Value, Value] | set[Value], why: Unknown) -> None:
    """The numbers and texts of a dictionary, which may go by another name, too:
    ``settings = vars(args)``."""
    if isinstance(held, dict):
        held.update({key: why for key, value in held.items() if isinstance(value, PLAIN)})


def rebind(frame: Frame, name: str, value: Value) -> None:
    """Let another value stand for one that was changed in place, wherever it is bound."""
    each: Frame | None = frame
    while each is not None and name not in each.names:
        each = each.closure
    if each is not None:
        each.names[name] = value
    elif name in frame.module.names:
        frame.module.names[name] = value


def _unknown_like(value: Value, why: Unknown) -> Unknown:
    """Another element of a list: of whole numbers, a whole number."""
    is_whole = isinstance(value, (int, Index)) and not isinstance(value, bool)
    return Index(why.reason, why.place, object()) if is_whole else why
