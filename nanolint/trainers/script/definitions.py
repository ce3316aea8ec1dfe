"""Names where they are defined: functions, classes, and what a script writes down for one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.flags import literal
from nanolint.run.terms import Given, Number, Surface
from nanolint.trainers.script.core import GOES_ON, Flow
from nanolint.trainers.script.modules import is_literal
from nanolint.trainers.script.things import Class, External, Function, Instance, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.run.terms import Place
    from nanolint.source.values import Scalar
    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.things import Thing

_MAKES_INIT = ("dataclass", "define", "frozen")  # dataclasses, attrs


def _function(core: Core, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Flow:
    decorators = tuple(core.value(each, scope) for each in node.decorator_list)
    positional = [*node.args.posonlyargs, *node.args.args]
    pairs = [*zip(reversed(positional), reversed(node.args.defaults), strict=False)][::-1]
    pairs += [
        (parameter, each)
        for parameter, each in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if each is not None
    ]
    defaults = {
        parameter.arg: given_literal(
            core, each, core.value(each, scope), parameter.arg, Surface.CONSTANT, scope
        )
        for parameter, each in pairs
    }
    target = ast.copy_location(ast.Name(node.name, ast.Store()), node)
    core.bind(target, Function(node, scope, None, decorators, defaults), scope)
    return GOES_ON


def _class(core: Core, node: ast.ClassDef, scope: Scope) -> Flow:
    bases = tuple(core.value(each, scope) for each in node.bases)
    decorators = [core.value(each, scope) for each in node.decorator_list]
    names = [each.of if isinstance(each, Instance) else each for each in decorators]
    is_dataclass = any(isinstance(each, External) and each.last in _MAKES_INIT for each in names)
    inner = Scope(scope.source, {}, scope, is_class=True)
    declared = tuple(
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    )
    core.run(node.body, inner)
    for key, value in inner.names.items():
        if isinstance(value, Given) and value.surface is Surface.CONSTANT and isinstance(key, str):
            inner.names[key] = _as_field(core, value)
    made_class = Class(node, scope, bases, inner.names, declared, is_dataclass)
    for value in inner.names.values():
        if isinstance(value, Function):
            value.owner = made_class
    target = ast.copy_location(ast.Name(node.name, ast.Store()), node)
    core.bind(target, made_class, scope)
    return GOES_ON


def _as_field(core: Core, value: Given) -> Given:
    found = Given(value.key, value.value, Surface.FIELD, value.place)
    core.state.given.pop(value, None)
    core.state.given[found] = None
    return found


HANDLERS: dict[type[ast.stmt], Callable[..., Flow]] = {
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.FunctionDef: _function,
}


def given_literal(
    core: Core, node: ast.expr, value: Thing, key: str, surface: Surface, scope: Scope
) -> Thing:
    """``value`` as something given under the name ``key``, where ``node`` writes it down."""
    if not isinstance(value, Number) or value.value is None or not is_literal(node):
        return value
    return given_value(core, key, value.value, surface, scope.source.place(node))


def given_value(core: Core, key: str, value: Scalar, surface: Surface, place: Place) -> Thing:
    """A value that stands at ``place``, or the one that is put on top of it."""
    change = core.state.around.change(key)
    if change is None:
        found = Given(key, value, surface, place)
    elif isinstance(change.value, NotKnown):
        return change.value
    else:
        found = Given(key, literal(change.value), Surface.FLAG, core.state.around.launched, place)
    core.state.given[found] = None
    return found
