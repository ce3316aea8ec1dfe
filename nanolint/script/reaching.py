"""The effects that a statement which cannot be read may have.

Whether it could reach something on the card, or a backward pass; the values that it may have bound
or changed are made unknown.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.binding import forget, not_entered
from nanolint.interpreter.module_signature import PLAIN
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.torch import modules
from nanolint.interpreter.values import (
    Class,
    Function,
    Instance,
    Method,
    Partial,
    Property,
    Unknown,
)
from nanolint.interpreter.watched import Index
from nanolint.script.changes import (
    asked,
    called,
    changed,
    changed_of,
    loaded,
    set_by_place,
    set_to_numbers,
    told_to,
)
from nanolint.source.python import of_node
from nanolint.tensors.device import Device
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

DEPTH = 4  # of what holds what
TRAINS = frozenset({"backward"})
EVALUATES = frozenset({"eval", "no_grad", "inference_mode"})
STEPS = frozenset({"step"})  # of an optimizer


def reaches_card(machine: Script, node: ast.AST, frame: Frame) -> bool:
    """Whether what a statement names holds, or could make, something on the card."""
    return _puts_there(node) or _names_reach(machine, node, frame, set(), DEPTH)


def holds_card(machine: Script, value: Value) -> bool:
    """Whether a value is, or holds, something on the card."""
    return _holds(machine, value, set(), DEPTH)


def fills_own(node: ast.AST, frame: Frame) -> bool:
    """Whether a statement may put anything into a dictionary of the project's own kind."""
    values = (frame.find(name) for name in changed(node))
    return any(isinstance(each, Instance) and isinstance(each.native, dict) for each in values)


@of_node
def _puts_there(node: ast.AST) -> bool:
    """Whether it says itself that something is put on the card: ``.cuda()``, ``.to("cuda")``,
    ``device="cuda"``."""
    for each in ast.walk(node):
        if not isinstance(each, ast.Call):
            continue
        named = [option.value for option in each.keywords if option.arg == "device"]
        if isinstance(each.func, ast.Attribute):
            if each.func.attr == "cuda":
                return True
            named += each.args[:1] if each.func.attr == "to" else []
        if any(isinstance(at, ast.Constant) and str(at.value).startswith("cuda") for at in named):
            return True
    return False


def trains(node: ast.AST, frame: Frame) -> bool:
    """Whether a statement goes backward, by itself or in a function of the script's own."""
    return _calls(TRAINS, node, frame, set(), DEPTH)


def starts_training(function: Function) -> bool:
    """Whether a function of the script's own goes backward when it is called."""
    return _calls(TRAINS, function.node, _Scope(function, function.closure), set(), DEPTH)


def steps(node: ast.AST, frame: Frame) -> bool:
    """Whether a statement may have an optimizer step, by itself or in a function of the script's
    own."""
    return _calls(STEPS, node, frame, set(), DEPTH)


def _calls(
    methods: frozenset[str], node: ast.AST, frame: Frame | _Scope, seen: set[int], depth: int
) -> bool:
    if methods & _methods(node):
        return True
    if depth == 0 or id(node) in seen:
        return False
    seen.add(id(node))
    functions = (each for name in _called(node) for each in _functions(_value(frame, *name)))
    return any(
        _calls(methods, e.node, _Scope(e, e.closure, owner), seen, depth - 1)
        for e, owner in functions
    )


@of_node
def _methods(node: ast.AST) -> frozenset[str]:
    """The methods that are called, by their names."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return frozenset(each.attr for each in calls if isinstance(each, ast.Attribute))


@of_node
def _called(node: ast.AST) -> tuple[tuple[str, str | None], ...]:
    """What is called, as ``asked`` has names."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return tuple(name for each in calls for name in asked(each)[:1])


def _functions(value: Value, owner: Value = None) -> Iterator[tuple[Function, Value]]:
    """The script's own functions that may run where ``value`` is called: of a class all. With the
    object that each is a method of."""
    if isinstance(value, Method):
        yield from _functions(value.function, value.owner)
    elif isinstance(value, Partial):
        yield from _functions(value.function)
    elif isinstance(value, Function):
        yield value, owner
    elif isinstance(value, Instance) and not modules.is_module(value):
        yield from _functions(value.cls)
    elif isinstance(value, Class):
        for each in value.mro:
            methods = (found for found in each.names.values() if isinstance(found, Function))
            yield from ((found, None) for found in methods)


def _value(frame: Frame | _Scope, name: str, attribute: str | None) -> Value:
    """What is asked for: of an object of the script that is no module, what it holds."""
    value = frame.find(name)
    if attribute is None or not isinstance(value, Instance) or modules.is_module(value):
        return value
    if attribute in value.attributes:
        return value.attributes[attribute]
    found = value.cls.find(attribute)
    return Method(found, value) if isinstance(found, Function) else value


def _names_reach(
    machine: Script, node: ast.AST, frame: Frame | _Scope, seen: set[int], depth: int
) -> bool:
    for each in asked(node):
        value = _value(frame, *each)
        if isinstance(value, str) and _is_only_compared(each[0], node, frame, depth):
            continue
        if value is not MISSING and _holds(machine, value, seen, depth):
            return True
    return False


def _is_only_compared(name: str, node: ast.AST, frame: Frame | _Scope, depth: int) -> bool:
    """Whether a statement only compares what a name is, and so do the functions it tells it."""
    places = told_to(node).get(name)
    if places is None:
        return name not in loaded(node)
    return all(_only_compares(frame.find(each), place, depth - 1) for each, place in places)


def _only_compares(function: Value, place: int, depth: int) -> bool:
    """Whether a function of the script's own only compares what it is given at a place."""
    given = function.node.args.args if isinstance(function, Function) else []
    if depth == 0 or place >= len(given):
        return False
    scope = _Scope(function, function.closure)
    return _is_only_compared(given[place].arg, function.node, scope, depth)


def _holds(machine: Script, value: Value, seen: set[int], depth: int) -> bool:
    if value is None or isinstance(value, (int, float, Unknown)):
        return False
    if isinstance(value, str):
        return value.startswith("cuda")
    if isinstance(value, Tensor):
        is_there = value.storage is not None or machine.card.tracer is not None  # in a graph
        return value.device is machine.card and is_there
    if isinstance(value, Device):
        return value is machine.card
    if depth == 0 or id(value) in seen:
        return False
    seen.add(id(value))
    if isinstance(value, (list, tuple, set)):
        return any(_holds(machine, each, seen, depth - 1) for each in list(value)[:50])
    if isinstance(value, dict):
        return any(_holds(machine, each, seen, depth - 1) for each in list(value.values())[:50])
    if isinstance(value, Method):
        return _holds(machine, value.owner, seen, depth) or _holds(
            machine, value.function, seen, depth
        )
    if isinstance(value, Partial):
        return _holds(machine, value.function, seen, depth)
    if isinstance(value, Property):
        return _holds(machine, value.getter, seen, depth)
    if isinstance(value, Instance):
        return modules.is_module(value) or any(
            _holds(machine, each, seen, depth - 1) for each in value.attributes.values()
        )
    if isinstance(value, Function):
        frame = _Scope(value, value.closure)
        return _puts_there(value.node) or _names_reach(machine, value.node, frame, seen, depth - 1)
    return False


class _Scope:
    """The names that a function sees around it, and the object that it is a method of."""

    def __init__(self, function: Function, closure: Frame | None, owner: Value = None) -> None:
        self._function, self._closure = function, closure
        self._owner = owner

    def find(self, name: str) -> Value:
        given = self._function.node.args.args
        if self._owner is not None and given and given[0].arg == name:
            return self._owner
        if self._closure is not None:
            return self._closure.find(name)
        return self._function.module.names.get(name, MISSING)


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
