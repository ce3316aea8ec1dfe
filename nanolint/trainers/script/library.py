"""Functions of Python's own and of libraries whose results are known without calling them."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.run.described import ANY
from nanolint.run.downloads import LENGTH, SIZES, vocabulary_of
from nanolint.run.equation import NotKnown
from nanolint.run.terms import FUNCTIONS, Given, Number, World
from nanolint.trainers.script import (
    engines,
    environment,
    settings_files,
    starters,
    tensors,
    unknown_reasons,
)
from nanolint.trainers.script.arguments import filled, is_parser, takes_others
from nanolint.trainers.script.calls import note_library_module
from nanolint.trainers.script.conditions import truth
from nanolint.trainers.script.iteration import first_item, length
from nanolint.trainers.script.operations import made, plus, repeated, row, scalar, unwrapped
from nanolint.trainers.script.things import (
    ITEMS,
    NONE,
    REST,
    TERMS,
    Class,
    External,
    Function,
    Instance,
    Partial,
    Repeated,
    Row,
    Table,
    Tensor,
    Thing,
    Wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core, Handler


def _range(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    item = core.unknown(unknown_reasons.CHANGES, place)
    if len(arguments) == 1:
        return Repeated(item, arguments[0])
    if len(arguments) < 2:
        return item
    count = made("-", (arguments[1], arguments[0]), place.path, place.line)
    if len(arguments) == 3 and scalar(arguments[2]) != 1:
        up = made("neg", (made("neg", (count,), None, 0),), None, 0)
        count = made("//", (up, arguments[2]), place.path, place.line)
    if len(arguments) == 2 and isinstance(arguments[0], Number):
        first = arguments[0].value
        count = plus(arguments[1], -first) if isinstance(first, int) else count
    return Repeated(item, count)


def _sample(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """``random.sample(values, count)``."""
    counts = [*arguments[1:2], *(named[each] for each in ("k",) if each in named)]
    if not arguments or not counts:
        return core.unknown("a choice by chance", place)
    return Repeated(first_item(core, repeated(arguments[0]), place), counts[0])


def _enumerate(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    first = repeated(arguments[0]) if arguments else NONE
    if isinstance(first, Row):
        return row([row([Number(index), each]) for index, each in enumerate(first.items)])
    index = core.unknown(unknown_reasons.CHANGES, place)
    count = (
        first.count if isinstance(first, Repeated) else core.unknown(unknown_reasons.LENGTH, place)
    )
    return Repeated(row([index, first_item(core, first, place)]), count)


def _zip(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    arguments = [repeated(each) for each in arguments]
    if all(isinstance(each, Row) for each in arguments):
        rows = [each.items for each in arguments if isinstance(each, Row)]
        return row([row(each) for each in zip(*rows, strict=False)])
    items = [first_item(core, each, place) for each in arguments]
    return Repeated(row(items), core.unknown(unknown_reasons.LENGTH, place))


def _list(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    if not arguments:
        return Row({ITEMS: ()}, len(core.state.loops), len(core.state.tests))
    first = arguments[0]
    if isinstance(first, Row):
        return first
    if isinstance(first, (Repeated, NotKnown)):
        return first
    return core.unknown(unknown_reasons.FILLED_AT_RUN, place)


def _dict(
    _core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], _place: Place
) -> Thing:
    first = arguments[0] if arguments else None
    before: dict[object, Thing] = dict(first.entries) if isinstance(first, Table) else {}
    if first is not None and not isinstance(first, Table):
        before[REST] = NotKnown("a dictionary filled at run time", _place.path, _place.line)
    before.update(named)
    return Table(before)


def _iter(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    first = arguments[0] if arguments else NONE
    return Instance(External("generator"), place, {"item": first_item(core, first, place)})


def _next(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    return first_item(core, arguments[0], place) if arguments else NONE


def _any_all(*, every: bool) -> Handler:
    def handler(
        core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
    ) -> Thing:
        first = arguments[0] if arguments else NONE
        is_whole = isinstance(first, Row) and first.count is None
        known = [truth(each) for each in first.items] if is_whole else [None]  # type: ignore[union-attr]
        if None in known:
            return core.unknown(unknown_reasons.CONDITION, place)
        return Number(all(known) if every else any(known))

    return handler


def _getattr(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    name = scalar(arguments[1]) if len(arguments) > 1 else None
    if not isinstance(name, str):
        return core.unknown("an attribute at run time", place)
    found = core.attribute(arguments[0], name, place)
    missing = isinstance(found, NotKnown) and found.reason.startswith("no attribute")
    return arguments[2] if missing and len(arguments) > 2 else found


def _setattr(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], _place: Place
) -> Thing:
    owner = arguments[0] if len(arguments) == 3 else NONE
    name = scalar(arguments[1]) if len(arguments) == 3 else None
    if isinstance(owner, Instance) and isinstance(name, str):
        core.state.journal.write(owner.fields, name, filled(core, owner, name, arguments[2]))
    return NONE


def _hasattr(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    found = _getattr(core, arguments, {}, place)
    if isinstance(found, NotKnown):
        return core.unknown(unknown_reasons.CONDITION, place)
    if isinstance(found, External):
        return core.unknown(f"whether there is {found.name}", place)
    return Number(value=True)


def _vars(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    first = unwrapped(arguments[0]) if arguments else NONE
    if isinstance(first, Instance):
        return Table(first.fields)
    return core.unknown("the attributes of something", place)


def _asdict(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    found = _vars(core, arguments, named, place)
    return Table(dict(found.entries)) if isinstance(found, Table) else found


def _partial(
    _core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], _place: Place
) -> Thing:
    return Partial(arguments[0], tuple(arguments[1:]), tuple(named.items()))


def _same(
    _core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], _place: Place
) -> Thing:
    return arguments[0] if arguments else NONE


def _path(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    parts = [scalar(each) for each in arguments]
    if parts and all(isinstance(each, str) for each in parts):
        return Number(posixpath.join(*map(str, parts)))
    unknown = core.unknown("a path at run time", place)
    likes = list(map(_like, arguments))
    return replace(unknown, like=posixpath.join(*likes)) if likes else unknown


def _like(part: Thing) -> str:
    """What is known of a part of a path."""
    if isinstance(part, NotKnown):
        return part.like or ANY
    return str(scalar(part)) if isinstance(part, TERMS) else ANY


def _home(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``os.path.expanduser``."""
    text = scalar(arguments[0]) if arguments else None
    if not isinstance(text, str):
        return core.unknown("a path at run time", place)
    if not text.startswith("~"):
        return Number(text)
    return replace(core.unknown("a folder of the user's", place), like=text)


def _class_like(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``isinstance(value, kind)``."""
    value, kind = (arguments[0], arguments[1]) if len(arguments) == 2 else (NONE, NONE)
    if isinstance(value, TERMS) and isinstance(kind, External):
        return Number(type(value.value).__name__ == kind.name)
    if isinstance(value, Instance) and isinstance(value.of, Class) and value.of is kind:
        return Number(value=True)
    if isinstance(value, Table) and kind == External("dict"):
        return Number(value=True)
    return core.unknown(unknown_reasons.CONDITION, place)


def _fields(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``dataclasses.fields(Config)``: the name of each, and its default."""
    first = unwrapped(arguments[0]) if arguments else NONE
    of = first.of if isinstance(first, Instance) else first
    if not isinstance(of, Class):
        return core.unknown("the fields of something", place)
    return row(
        [
            Instance(
                External("dataclasses.field"),
                place,
                {
                    "name": Number(name),
                    "default": of.find(name) or core.unknown("no default", place),
                },
            )
            for name in of.all_declared
        ]
    )


HANDLERS: dict[str, Handler] = {
    "all": _any_all(every=True),
    "any": _any_all(every=False),
    "asdict": _asdict,
    "copy": _same,
    "deepcopy": _same,
    "dict": _dict,
    "enumerate": _enumerate,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "isinstance": _class_like,
    "iter": _iter,
    "list": _list,
    "tuple": _list,
    "next": _next,
    "os.path.expanduser": _home,
    "os.path.join": _path,
    "partial": _partial,
    "random.sample": _sample,
    "range": _range,
    "tqdm.tqdm": _same,
    "tqdm.auto.tqdm": _same,
    "tqdm.trange": _range,
    "setattr": _setattr,
    "vars": _vars,
    "zip": _zip,
}
HANDLERS["dataclasses.fields"] = _fields
for _name in ("copy.copy", "copy.deepcopy", "dataclasses.asdict", "functools.partial"):
    HANDLERS[_name] = HANDLERS[_name.rpartition(".")[2]]


_WRAPPERS = frozenset(
    {
        *("torch.compile", "torch.jit.script", "torch.nn.DataParallel", "DataParallel"),
        *("DistributedDataParallel", "FullyShardedDataParallel", "fully_shard"),
    }
)
_WORLD = ("get_world_size", "device_count")
_OPTIMIZERS = ("AdamW8bit", "Adam8bit", "FusedAdam", "ZeroRedundancyOptimizer")
_TENSORS = ("torch.", "numpy.", "np.")


def call(
    core: Core,
    function: External,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    place: Place,
) -> Thing:
    """What calling a function or class of a library gives."""
    name, last = function.name, function.last
    for each in (*arguments, *named.values()):
        if isinstance(each, Instance) and is_parser(each):
            takes_others(core, each)
    handler = _HANDLERS.get(name) or _HANDLERS.get(last if _is_bare(name) else "")
    if handler is not None:
        return handler(core, arguments, named, place)
    if name in _WRAPPERS or last in _WRAPPERS:
        return _wrapped(core, name, arguments, named, place)
    if name == "len" and arguments and isinstance(arguments[0], Instance):
        found = length(core, arguments[0], place)
        if found is not None:
            return found
    if name in FUNCTIONS:
        if named:  # max(sizes, key=...), round(x, ndigits=...)
            return core.unknown(f"{name} with {next(iter(named))}=", place)
        return _worked_out(name, arguments, place)
    if last in _WORLD:
        return World(core.state.around.world_size)
    if name.startswith(_TENSORS):
        tensor = tensors.constructed(last, arguments, named, place)
        if tensor is not None:
            return tensor
    if name.startswith("transformers.") and last == "from_json_file":
        return _HANDLERS["json.load"](core, arguments, named, place)
    if name.startswith("os.path.") or name == "input":
        return core.unknown(f"calls {name} at run time", place)
    instance = Instance(function, place, {}, tuple(arguments), dict(named))
    instance.fields.update(named)
    _size(instance, [*arguments, *named.values()])
    if name.startswith("torch.nn.") and last[:1].isupper():
        note_library_module(core, instance)
    if (name.startswith("torch.optim.") and "lr_scheduler" not in name) or last in _OPTIMIZERS:
        core.state.happen("optimizer", place, instance)
    return instance


def _size(instance: Instance, arguments: Sequence[Thing]) -> None:
    """Tokenizers that packages bring by name have as many tokens as is known."""
    assert isinstance(instance.of, External)
    size = vocabulary_of(instance.of.name, [scalar(each) for each in arguments[:1]])
    if size is not None:
        instance.fields["max_token_value"] = Number(size - 1)
        for name in (*SIZES, LENGTH):
            instance.fields[name] = Number(size)


def _is_bare(name: str) -> bool:
    """Whether a function may be imported by its own name from wherever it is."""
    return name.partition(".")[0] in (
        "dataclasses",
        "functools",
        "itertools",
        "copy",
        "math",
        "torch",
    )


def _wrapped(
    core: Core, name: str, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    inner = arguments[0] if arguments else next(iter(named.values()), None)
    if inner is None:  # @torch.compile(...)
        return External("decorator")
    if isinstance(inner, (Function, External)):
        return inner
    if isinstance(unwrapped(inner), Instance):
        if "compile" in name:
            core.state.happen("compile", place, inner)
        return Wrapped(inner, name)
    return inner


def _worked_out(name: str, arguments: Sequence[Thing], place: Place) -> Thing:
    first = arguments[0] if arguments else None
    if isinstance(first, Row) and name in ("min", "max", "sum", "len"):
        if name == "len":
            return first.count or Number(len(first.items))
        if first.count is not None:
            return NotKnown(unknown_reasons.FILLED, place.path, place.line)
        arguments = first.items
        if name == "sum":
            unknown = next((each for each in arguments if isinstance(each, NotKnown)), None)
            return unknown or made("sum", arguments, place.path, place.line)
    if name == "len" and isinstance(first, Repeated):
        return first.count
    if name == "len" and isinstance(first, Tensor) and first.shape:
        return first.shape[0]
    if isinstance(first, Given) and isinstance(first.value, str) and name in ("int", "float"):
        return _read_as(first, name, place)
    if isinstance(first, TERMS) and len(arguments) == 1:
        is_one = type(first.value).__name__ == name
        if is_one or (name == "int" and isinstance(first, World)):
            return first
    if name == "bool" and first is not None:
        known = truth(first)
        if known is not None and not isinstance(first, TERMS):
            return Number(known)
    for each in arguments:
        if isinstance(each, Instance) and name == "len":
            if LENGTH in each.fields:
                return each.fields[LENGTH]
            return NotKnown(unknown_reasons.MUCH, place.path, place.line)
    return made(name, arguments, place.path, place.line)


def _read_as(given: Given, name: str, place: Place) -> Thing:
    """A number that was given as a text, as the environment gives them."""
    number = made(name, (Number(given.value),), place.path, place.line)
    if isinstance(number, NotKnown):
        return number
    return Given(given.key, scalar(number), given.surface, given.place, given.default)


_HANDLERS: dict[str, Handler] = {
    **HANDLERS,
    **environment.HANDLERS,
    **settings_files.HANDLERS,
    **engines.HANDLERS,
    **starters.HANDLERS,
}
