"""Objects of which a statement that cannot be read may set attributes whose names only a run has.

``for name, value in json.load(file).items(): setattr(config, name, value)`` may change any number
that ``config`` holds, and may give it others.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanolint.interpreter.records import Field
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import Class, Function, Instance, Namespace
from nanolint.source.any_name import attributes_set
from nanolint.source.python import of_node
from nanolint.tensors.dtypes import Dtype

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Unknown, Value

# What settings are: tensors and modules among the attributes stay as they are.
_SETTINGS = frozenset(
    {bool, int, float, complex, str, type(None), Dtype, tuple, list, dict, set, Field}
)


class _Call(NamedTuple):
    """``function(*arguments, **settings)``, of which the settings may be what was not known."""

    function: ast.expr
    arguments: tuple[ast.expr, ...]


def forget_attributes(node: ast.stmt, frame: Frame, why: Unknown) -> None:
    """What ``node`` may set by such names, itself or in what it calls, is not known from here."""
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
