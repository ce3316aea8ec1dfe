"""A call as it is written: its function, and what it is passed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.terms import Surface
from nanolint.trainers.script import walks
from nanolint.trainers.script.definitions import given_literal
from nanolint.trainers.script.executed import COMPILE, EXEC, executed
from nanolint.trainers.script.loaders import LOADERS
from nanolint.trainers.script.modules import is_literal
from nanolint.trainers.script.operations import repeated, row, unknown_at
from nanolint.trainers.script.things import (
    CALLABLE,
    REST,
    Class,
    External,
    Function,
    Repeated,
    Row,
    Scope,
    Super,
    Table,
    Tensor,
    Thing,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.trainers.script.core import Core

_OF_SCOPE = ("globals", "locals", "vars", "super")
_ENVIRONMENT = ("os.environ.get", "os.getenv")


def _call(core: Core, node: ast.Call, scope: Scope) -> Thing:
    place = scope.source.at(node)
    owner: Thing | None = None
    name = ""
    if isinstance(node.func, ast.Attribute):
        owner, name = core.value(node.func.value, scope), node.func.attr
        function = core.attribute(owner, name, place)
    else:
        function = core.value(node.func, scope)
    if isinstance(function, External) and function.name in _OF_SCOPE and not node.args:
        return _of_scope(function.name, node, scope)
    unzipped = _unzipped(core, node, function, scope)
    if unzipped is not None:
        return unzipped
    arguments = _positional(core, node, function, scope)
    named = _named(core, node, function, scope)
    if function == COMPILE and arguments:
        return arguments[0]
    if function == EXEC and (done := executed(core, node, arguments, scope)) is not None:
        return done
    if owner is not None and not isinstance(function, CALLABLE):
        return core.method(owner, name, arguments, named, place)
    return core.call(function, arguments, named, place)


def _of_scope(name: str, node: ast.Call, scope: Scope) -> Thing:
    if name != "super":
        return Table(scope.outermost.names if name == "globals" else scope.names)
    instance, owner = scope.names.get("self"), scope.names.get("__class__")
    if instance is None or not isinstance(owner, Class):
        return unknown_at("calls super() at run time", node, scope)
    return Super(instance, owner)


def _unzipped(core: Core, node: ast.Call, function: Thing, scope: Scope) -> Thing | None:
    """``xs, ys = zip(*batch)``: of so many pairs the firsts and the seconds."""
    starred = node.args[0] if len(node.args) == 1 else None
    if function != External("zip") or not isinstance(starred, ast.Starred):
        return None
    found = repeated(core.value(starred.value, scope))
    if not isinstance(found, Repeated):
        return None
    if isinstance(found.item, Row):
        return row([Repeated(each, found.count) for each in found.item.items])
    return Repeated(found, unknown_at(walks.IN_SAMPLE, node, scope))


def _positional(core: Core, node: ast.Call, function: Thing, scope: Scope) -> list[Thing]:
    arguments: list[Thing] = []
    for each in node.args:
        found = core.value(each.value if isinstance(each, ast.Starred) else each, scope)
        if isinstance(each, ast.Starred) and isinstance(found, Tensor) and found.perhaps_several:
            arguments.append(found)
        elif isinstance(each, ast.Starred):
            arguments += found.items if isinstance(found, Row) else []
        else:
            arguments.append(_argument(core, each, found, function, len(arguments), scope))
    return arguments


def _is_open(core: Core, node: ast.expr, scope: Scope) -> bool:
    """Whether an argument stands for nobody knows how many."""
    found = core.value(node.value, scope) if isinstance(node, ast.Starred) else None
    several = isinstance(found, Tensor) and found.perhaps_several
    return found is not None and not isinstance(found, Row) and not several


def _named(core: Core, node: ast.Call, function: Thing, scope: Scope) -> dict[str, Thing]:
    named: dict[str, Thing] = {}
    if isinstance(function, (Class, Function)) and any(_is_open(core, e, scope) for e in node.args):
        named[REST] = unknown_at("arguments at run time", node, scope)
    for keyword in node.keywords:
        found = core.value(keyword.value, scope)
        if keyword.arg is not None:
            loads = keyword.arg == "batch_size" and _is_loader(function)
            if not isinstance(function, External) or function.name == "dict" or loads:
                is_entry = isinstance(function, External) and not loads
                surface = Surface.ENTRY if is_entry else Surface.CONSTANT
                found = given_literal(core, keyword.value, found, keyword.arg, surface, scope)
            named[keyword.arg] = found
        elif isinstance(found, Table):
            named |= {str(key): value for key, value in found.entries.items()}
        elif isinstance(found, Tensor) and found.perhaps_several:
            named[REST] = found
        else:
            named[REST] = unknown_at("arguments at run time", node, scope)
    return named


def _argument(
    core: Core, node: ast.expr, value: Thing, function: Thing, position: int, scope: Scope
) -> Thing:
    """A literal that is passed to a function of the project goes by the parameter's name."""
    if isinstance(function, External) and position == 1 and function.name in _ENVIRONMENT:
        return given_literal(core, node, value, "default", Surface.ENVIRONMENT, scope)
    if position == 1 and _is_loader(function):
        return given_literal(core, node, value, "batch_size", Surface.CONSTANT, scope)
    if isinstance(function, Function) and is_literal(node):
        parameters = [*function.node.args.posonlyargs, *function.node.args.args]
        position += function.bound is not None
        if position < len(parameters):
            key = parameters[position].arg
            return given_literal(core, node, value, key, Surface.CONSTANT, scope)
    return value


def _is_loader(function: Thing) -> bool:
    return isinstance(function, External) and function.last in (*LOADERS, "BatchSampler")


HANDLERS: dict[type[ast.expr], Callable[..., Thing]] = {ast.Call: _call}
