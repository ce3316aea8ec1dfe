"""A call as it is written: its function, and what it is passed."""

from __future__ import annotations

import ast
import posixpath
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.run.terms import Given, Surface
from nanolint.source.any_name import set_by_name
from nanolint.trainers.nanogpt.configurator import WORDS
from nanolint.trainers.nanogpt.reading import syntax_tree
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.core import forget
from nanolint.trainers.script.definitions import given_literal
from nanolint.trainers.script.fitting import ARGUMENTS, OF_TRANSFORMERS
from nanolint.trainers.script.iteration import LOADERS
from nanolint.trainers.script.modules import find_module, is_literal
from nanolint.trainers.script.operations import repeated, row, scalar, unknown_at
from nanolint.trainers.script.settings_files import path_of
from nanolint.trainers.script.sources import PROGRAM, is_inside, module_at, text_of
from nanolint.trainers.script.things import (
    CALLABLE,
    NONE,
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
    from collections.abc import Callable, Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core

# A file that a script runs with ``exec(open("config/small.py").read())`` sets what it sets where
# that stands. One that reads the launch line is a configurator, and so is nanoGPT's where it is not
# here; any other file or text that is not known may set anything.
CONFIGURATOR = "configurator.py"
EXEC, COMPILE = External("exec"), External("compile")


def executed(core: Core, node: ast.Call, arguments: Sequence[Thing], scope: Scope) -> Thing | None:
    """``exec`` of a text, or of a file whose path is known; None for a configurator."""
    place = scope.source.at(node)
    given = arguments[0] if arguments else NONE
    path = path_of(given)
    into = arguments[1] if len(arguments) > 1 else None
    names = into.entries if isinstance(into, Table) else scope.outermost.names
    if path is None or not path.endswith(PROGRAM):
        if path is None and any(CONFIGURATOR in ast.unparse(each) for each in node.args[:1]):
            return None
        if into is not None or scope is scope.outermost or not isinstance(scalar(given), str):
            _run_text(core, scalar(given), names, place)
        return NONE
    if into is None and scope is not scope.outermost:
        return NONE  # it sets names of its own
    found = find_module(module_at(path), core.state.roots, None) if is_inside(path) else None
    text = text_of(found)
    if found is None or text is None:
        if posixpath.basename(path) == CONFIGURATOR:
            return None
        forget(core, names, core.unknown(f"the values of {path}, which is not here", place))
        return NONE
    if WORDS in text:
        return None
    inner = core.module(found, module_at(path))
    for key, value in (inner.names if inner is not None else {}).items():
        core.state.journal.write(names, key, value)
    return NONE


def _run_text(core: Core, text: object, names: dict[object, Thing], place: Place) -> None:
    """What a text sets: no place that could be rewritten has its values."""
    tree = _parsed(text) if isinstance(text, str) else None
    if tree is None:
        forget(core, names, core.unknown("exec may set any value", place))
        return
    why = core.unknown("exec sets a value", place)
    write = core.state.journal.write
    for statement in tree.body:
        value = _plain(statement)
        for each in ast.walk(statement):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                given = Given(each.id, value, Surface.CONSTANT, place)
                write(names, each.id, why if value is None else given)
                if value is not None:
                    core.state.given[given] = None
        if set_by_name(statement):
            forget(core, names, why)


def _plain(statement: ast.stmt) -> float | str | None:
    """The number or text of ``B = 2``; None of any other statement."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    value = getattr(statement, "value", None)
    if not targets or not all(isinstance(each, ast.Name) for each in targets):
        return None
    found = value.value if isinstance(value, ast.Constant) else None
    return found if isinstance(found, (int, float, str)) else None


def _parsed(text: str) -> ast.Module | None:
    try:
        return syntax_tree(text)
    except (Unusable, RecursionError):
        return None


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
    return Repeated(found, unknown_at(unknown_reasons.IN_SAMPLE, node, scope))


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
            loads = loads or (keyword.arg in OF_TRANSFORMERS and _is_settings(function))
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


def _is_settings(function: Thing) -> bool:
    return isinstance(function, External) and function.last in ARGUMENTS


def _is_loader(function: Thing) -> bool:
    return isinstance(function, External) and function.last in (*LOADERS, "BatchSampler")


HANDLERS: dict[type[ast.expr], Callable[..., Thing]] = {ast.Call: _call}
