"""Ways to start a function: a command line made of it (click, fire, tyro, typer), or another
process."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.flags import literal, plain_name
from nanolint.run.terms import Given, Number, Surface
from nanolint.trainers.script.arguments import declared, parsed
from nanolint.trainers.script.fitting import ARGUMENTS, OF_TRANSFORMERS, PRECISIONS
from nanolint.trainers.script.operations import row, scalar
from nanolint.trainers.script.things import (
    NONE,
    Class,
    External,
    Function,
    Instance,
    Row,
    is_call_of,
)

if TYPE_CHECKING:
    from nanolint.run.terms import Place
    from nanolint.trainers.script.arguments import Flag
    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.things import Thing

PARSERS = (External("transformers.HfArgumentParser"), External("trl.TrlParser"))
PROCESSES = tuple(External(f"{each}multiprocessing.Process") for each in ("", "torch."))
PARSES = ("parse_args_into_dataclasses", "parse_args_and_config")

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core, Handler
    from nanolint.trainers.script.things import Thing


def _start(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``fire.Fire(main)``: its parameters are the flags, each with its own default."""
    started = arguments[0] if arguments else NONE
    if not isinstance(started, (Class, Function, External)) or (
        isinstance(started, External) and started.last not in ARGUMENTS
    ):
        return core.unknown("what a command line starts", place)
    return core.call(started, [], _flags(core, started), place)


def _spawned(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """``torch.multiprocessing.spawn(main, args)``: what its first process calls."""
    given = dict(zip(("fn", "args"), arguments, strict=False)) | dict(named)
    return _called(core, given.get("fn"), [Number(0)], given.get("args"), place)


def _called(
    core: Core, target: Thing | None, first: Sequence[Thing], rest: Thing | None, place: Place
) -> Thing:
    if target is None or (rest is not None and not isinstance(rest, Row)):
        return core.unknown("what another process starts", place)
    core.call(target, [*first, *(rest.items if rest else ())], {}, place)
    return NONE


def method(
    core: Core, owner: Instance, name: str, named: Mapping[str, Thing], place: Place
) -> Thing | None:
    """``Process(target=main, args=...).start()``, and what a parser of transformers finds: an
    object of each class, and the words that are left if they are asked for."""
    if name == "start" and owner.of in PROCESSES:
        return _called(core, owner.argument(1, "target"), (), owner.argument(3, "args"), place)
    if owner.of not in PARSERS or name not in PARSES:
        return None
    given = owner.argument(0, "dataclass_types")
    classes = given.items if isinstance(given, Row) else () if given is None else (given,)
    found = [_start(core, [each], {}, place) for each in classes]
    asked = named.get("return_remaining_strings")
    if asked is not None and scalar(asked) is not False:
        found.append(core.unknown("the words that are left", place))
    return row(found)


def _flags(core: Core, started: Class | Function | External) -> dict[str, Thing]:
    """What the launch line says of the parameters, or of the fields."""
    defaults = {str(name): value for name, value in _defaults(started).items()}
    found: dict[str, Thing] = {}
    for word in core.state.around.words:
        name = plain_name(word.key)
        if name not in defaults or not word.key.startswith("--"):
            continue
        if isinstance(word.value, NotKnown):
            found[name] = word.value
            continue
        default = defaults[name]
        place = default.place if isinstance(default, Given) else None
        value = literal(word.value)
        given = Given(
            word.key,
            True if value is None and name in PRECISIONS else value,
            Surface.FLAG,
            word.place or core.state.around.launched,
            place,
        )
        core.state.given[given] = None
        found[name] = given
    return found


def _defaults(started: Class | Function | External) -> Mapping[object, Thing]:
    if isinstance(started, Function):
        named = [*started.node.args.args, *started.node.args.kwonlyargs]
        return {each.arg: started.defaults.get(each.arg, NONE) for each in named}
    found: dict[object, Thing] = {}
    if isinstance(started, External) or started.derives_from(*ARGUMENTS):
        found |= {name: Number(value) for name, value in OF_TRANSFORMERS.items()}
        found["auto_find_batch_size"] = NONE
        found |= dict.fromkeys(PRECISIONS, Number(value=False))
    if isinstance(started, Class):
        found |= {name: started.find(name) or NONE for name in started.all_declared}
    return found


HANDLERS: dict[str, Handler] = {
    "fire.Fire": _start,
    "jsonargparse.CLI": _start,
    "typer.run": _start,
    "tyro.cli": _start,
    "torch.multiprocessing.spawn": _spawned,
}


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
