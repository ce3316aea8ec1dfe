"""What makes a command line of a function or a class, and calls it: fire, tyro, typer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Given, Surface
from nanolint.trainers.script.core import literal, plain_name
from nanolint.trainers.script.operations import row
from nanolint.trainers.script.things import NONE, Class, External, Function, Instance, Row

PARSER = External("transformers.HfArgumentParser")

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
    if not isinstance(started, (Class, Function)):
        return core.unknown("what a command line starts", place)
    return core.call(started, [], _flags(core, started), place)


def method(core: Core, owner: Instance, name: str, place: Place) -> Thing | None:
    """``HfArgumentParser(Config).parse_args_into_dataclasses()``: one of each class."""
    if owner.of != PARSER or name != "parse_args_into_dataclasses":
        return None
    given = owner.argument(0, "dataclass_types")
    classes = given.items if isinstance(given, Row) else () if given is None else (given,)
    return row([_start(core, [each], {}, place) for each in classes])


def _flags(core: Core, started: Class | Function) -> dict[str, Thing]:
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
        given = Given(
            word.key,
            literal(word.value),
            Surface.FLAG,
            word.place or core.state.around.launched,
            place,
        )
        core.state.given[given] = None
        found[name] = given
    return found


def _defaults(started: Class | Function) -> Mapping[object, Thing]:
    if isinstance(started, Function):
        named = [*started.node.args.args, *started.node.args.kwonlyargs]
        return {each.arg: started.defaults.get(each.arg, NONE) for each in named}
    return {name: started.find(name) or NONE for name in started.all_declared}


HANDLERS: dict[str, Handler] = {
    "fire.Fire": _start,
    "jsonargparse.CLI": _start,
    "typer.run": _start,
    "tyro.cli": _start,
}
