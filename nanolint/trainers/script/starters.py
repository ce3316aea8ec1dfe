"""Ways to start a function: a command line made of it (fire, tyro, typer), or another process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.flags import literal, plain_name
from nanolint.run.terms import Given, Number, Surface
from nanolint.trainers.script.fitting import ARGUMENTS, OF_TRANSFORMERS
from nanolint.trainers.script.operations import row, scalar
from nanolint.trainers.script.things import NONE, Class, External, Function, Instance, Row

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


def _defaults(started: Class | Function | External) -> Mapping[object, Thing]:
    if isinstance(started, Function):
        named = [*started.node.args.args, *started.node.args.kwonlyargs]
        return {each.arg: started.defaults.get(each.arg, NONE) for each in named}
    found: dict[object, Thing] = {}
    if isinstance(started, External) or started.derives_from(*ARGUMENTS):
        found |= {name: Number(value) for name, value in OF_TRANSFORMERS.items()}
        found["auto_find_batch_size"] = NONE
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
