"""click: a function whose options are its decorators, and which is called without arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.terms import Given, Number, Surface
from nanolint.trainers.script.arguments import declared, parsed
from nanolint.trainers.script.operations import scalar
from nanolint.trainers.script.things import External, Function, is_call_of

if TYPE_CHECKING:
    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.flags import Flag
    from nanolint.trainers.script.things import Thing

COMMAND, OPTION = "click.command", "click.option"


def options_of(core: Core, function: Function, place: Place) -> dict[str, Thing]:
    """What the options of a command give its parameters; nothing where it is none."""
    made = any(
        is_call_of(each, COMMAND) or each == External(COMMAND) for each in function.decorators
    )
    if not made:
        return {}
    assert isinstance(function.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    pairs = zip(function.node.decorator_list, function.decorators, strict=True)
    flags = [_flag(core, function, node, each) for node, each in pairs]
    given = parsed(core, [each for each in flags if each is not None], place)
    return {str(name): value for name, value in given.fields.items()}


def _flag(core: Core, function: Function, node: ast.expr, option: Thing) -> Flag | None:
    if not is_call_of(option, OPTION):
        return None
    named = dict(option.named)
    names = [scalar(each) for each in option.arguments]
    bare = next((each for each in names if isinstance(each, str) and each[:1] != "-"), None)
    if bare is not None:
        named["dest"] = Number(bare)
    if scalar(named.get("is_flag")) is True:
        named["action"] = Number("store_true")
    value = scalar(named.get("default"))
    if isinstance(value, (bool, int, float, str)):
        named.setdefault("type", External(type(value).__name__))
        named["default"] = _where_it_stands(function, node, value)
    dashed = [each for each in option.arguments if str(scalar(each)).startswith("-")]
    return declared(core, dashed, named)


def _where_it_stands(function: Function, node: ast.expr, value: bool | float | str) -> Thing:
    """The default as something that can be rewritten, where it is a literal."""
    words = node.keywords if isinstance(node, ast.Call) else []
    found = next((each.value for each in words if each.arg == "default"), None)
    if not isinstance(found, ast.Constant):
        return Number(value)
    return Given("default", value, Surface.ARGUMENT, function.scope.source.place(found))
