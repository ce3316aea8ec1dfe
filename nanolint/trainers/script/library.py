"""The functions and classes of libraries whose results are known without calling them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import FUNCTIONS, Given, Number, Surface, World
from nanolint.trainers.script import tensors
from nanolint.trainers.script.calls import first_item, note_library_module
from nanolint.trainers.script.conditions import truth
from nanolint.trainers.script.core import literal, plain_name
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
    made,
    plus,
    repeated,
    row,
    scalar,
    unwrapped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core

    Handler = Callable[[Core, Sequence[Thing], Mapping[str, Thing], Place], Thing]

_WRAPPERS = frozenset(
    {
        *("torch.compile", "torch.jit.script", "torch.nn.DataParallel", "DataParallel"),
        *("DistributedDataParallel", "FullyShardedDataParallel", "fully_shard"),
    }
)
_WORLD = ("get_world_size", "device_count")
_OPTIMIZERS = ("AdamW8bit", "Adam8bit", "FusedAdam", "ZeroRedundancyOptimizer")
_RANKS = ("RANK", "LOCAL_RANK")
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
    handler = _HANDLERS.get(name) or _HANDLERS.get(last if _is_bare(name) else "")
    if handler is not None:
        return handler(core, arguments, named, place)
    if name in _WRAPPERS or last in _WRAPPERS:
        return _wrapped(core, name, arguments, named, place)
    if name in FUNCTIONS:
        return _worked_out(name, arguments, place)
    if last in _WORLD:
        return World(core.state.around.world_size)
    if name.startswith(_TENSORS):
        found = tensors.constructed(last, arguments, named, place)
        if found is not None:
            return found
    if name.startswith("os.path.") or name in ("open", "input"):
        return core.unknown(f"calls {name} at run time", place)
    instance = Instance(function, place, {}, tuple(arguments), dict(named))
    instance.fields.update(named)
    if name.startswith("torch.nn.") and last[:1].isupper():
        note_library_module(core, instance)
    if (name.startswith("torch.optim.") and "lr_scheduler" not in name) or last in _OPTIMIZERS:
        core.state.happen("optimizer", place, instance)
    return instance


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
            return NotKnown("a list that a loop fills", place.path, place.line)
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
            return NotKnown("how much there is", place.path, place.line)
    return made(name, arguments, place.path, place.line)


def _read_as(given: Given, name: str, place: Place) -> Thing:
    """A number that was given as a text, as the environment gives them."""
    number = made(name, (Number(given.value),), place.path, place.line)
    if isinstance(number, NotKnown):
        return number
    return Given(given.key, scalar(number), given.surface, given.place, given.default)


# The environment


def _variable(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """``os.environ.get(name, default)``."""
    name = scalar(arguments[0]) if arguments else None
    if not isinstance(name, str):
        return core.unknown("reads the environment at run time", place)
    default = arguments[1] if len(arguments) > 1 else named.get("default")
    world = core.state.around.world_size
    if name == "WORLD_SIZE":
        given = scalar(default) if default is not None else 1
        return World(world) if world > 1 or str(given) == "1" else default or World(1)
    if name in _RANKS:
        return Number("0") if world > 1 or default is None else default
    word = core.state.around.variable(name)
    if word is not None:
        if isinstance(word.value, NotKnown):
            return word.value
        place_of = word.place or core.state.around.launched
        where = default.place if isinstance(default, Given) else None
        return _noted(core, Given(name, word.value, Surface.VARIABLE, place_of, where))
    if isinstance(default, Given):
        core.state.given.pop(default, None)
        return _noted(core, Given(name, default.value, Surface.ENVIRONMENT, default.place))
    if default is not None:
        return default
    return NONE


def _required(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """``os.environ[name]``."""
    found = _variable(core, arguments, named, place)
    if found == NONE:
        return core.unknown(f"reads {scalar(arguments[0])} of the environment", place)
    return found


def _noted(core: Core, given: Given) -> Given:
    core.state.given[given] = None
    return given


# The card


def _capability(
    core: Core, _arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    found = core.state.around.capability
    if found is None:
        return core.unknown("asks the card for its compute capability", place)
    return row([Number(each) for each in found])


def _properties(
    core: Core, _arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    around = core.state.around
    memory: Thing = core.unknown("asks the card for its memory", place)
    if around.memory_bytes is not None:
        memory = Number(around.memory_bytes)
    fields: dict[object, Thing] = {"total_memory": memory}
    if around.capability is not None:
        fields |= {"major": Number(around.capability[0]), "minor": Number(around.capability[1])}
    return Instance(External("torch.cuda.properties"), place, fields)


# Python's own


def _range(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    item = core.unknown("changes with each turn of a loop", place)
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


def _enumerate(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    first = repeated(arguments[0]) if arguments else NONE
    if isinstance(first, Row):
        return row([row([Number(index), each]) for index, each in enumerate(first.items)])
    index = core.unknown("changes with each turn of a loop", place)
    count = first.count if isinstance(first, Repeated) else core.unknown("a length", place)
    return Repeated(row([index, first_item(core, first, place)]), count)


def _zip(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    arguments = [repeated(each) for each in arguments]
    if all(isinstance(each, Row) for each in arguments):
        rows = [each.items for each in arguments if isinstance(each, Row)]
        return row([row(each) for each in zip(*rows, strict=False)])
    items = [first_item(core, each, place) for each in arguments]
    return Repeated(row(items), core.unknown("a length", place))


def _list(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    if not arguments:
        return Row({ITEMS: ()}, len(core.state.loops), len(core.state.tests))
    first = arguments[0]
    if isinstance(first, Row):
        return first
    if isinstance(first, Repeated):
        return first
    return core.unknown("a list that is filled at run time", place)


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
            return core.unknown("a condition at run time", place)
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
        core.state.journal.write(owner.fields, name, arguments[2])
    return NONE


def _hasattr(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    found = _getattr(core, arguments, {}, place)
    if isinstance(found, NotKnown):
        return core.unknown("a condition at run time", place)
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


def _exec(
    core: Core, _arguments: Sequence[Thing], _named: Mapping[str, Thing], _place: Place
) -> Thing:
    """nanoGPT's configurator and its like: the launch line's values replace globals."""
    scope = core.script_scope()
    for key, value in list(scope.names.items()):
        if isinstance(value, Given) and value.surface is Surface.CONSTANT:
            found = Given(value.key, value.value, Surface.GLOBAL, value.place)
            core.state.given.pop(value, None)
            core.state.journal.write(scope.names, key, _noted(core, found))
    for word in core.state.around.words:
        key = plain_name(word.key)
        if key not in scope.names:
            continue
        if isinstance(word.value, NotKnown):
            core.state.journal.write(scope.names, key, word.value)
            continue
        before = scope.names[key]
        default = before.place if isinstance(before, Given) else None
        like = literal(word.value)
        given = Given(key, like, Surface.FLAG, word.place or core.state.around.launched, default)
        core.state.journal.write(scope.names, key, _noted(core, given))
    return NONE


def _path(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    parts = [scalar(each) for each in arguments]
    if parts and all(isinstance(each, str) for each in parts):
        return Number(posixpath.join(*map(str, parts)))
    return core.unknown("a path at run time", place)


def _constant(value: bool) -> Handler:
    return lambda _core, _arguments, _named, _place: Number(value)


def _of_around(name: str) -> Handler:
    return lambda core, _arguments, _named, _place: Number(getattr(core.state.around, name))


def _distributed(
    core: Core, _arguments: Sequence[Thing], _named: Mapping[str, Thing], _place: Place
) -> Thing:
    return Number(core.state.around.world_size > 1)


def _class_like(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``isinstance(value, kind)``."""
    value, kind = (arguments[0], arguments[1]) if len(arguments) == 2 else (NONE, NONE)
    if isinstance(value, TERMS) and isinstance(kind, External):
        return Number(type(value.value).__name__ == kind.name)
    if isinstance(value, Instance) and isinstance(value.of, Class) and value.of is kind:
        return Number(value=True)
    return core.unknown("a condition at run time", place)


_HANDLERS: dict[str, Handler] = {
    "all": _any_all(every=True),
    "any": _any_all(every=False),
    "asdict": _asdict,
    "copy": _same,
    "deepcopy": _same,
    "dict": _dict,
    "enumerate": _enumerate,
    "exec": _exec,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "isinstance": _class_like,
    "iter": _iter,
    "list": _list,
    "tuple": _list,
    "next": _next,
    "os.environ": _required,
    "os.environ.get": _variable,
    "os.getenv": _variable,
    "os.path.join": _path,
    "partial": _partial,
    "range": _range,
    "tqdm.tqdm": _same,
    "tqdm.auto.tqdm": _same,
    "tqdm.trange": _range,
    "setattr": _setattr,
    "vars": _vars,
    "zip": _zip,
    "torch.cuda.get_device_capability": _capability,
    "torch.cuda.get_device_properties": _properties,
    "torch.cuda.is_available": _constant(value=True),
    "torch.cuda.is_bf16_supported": _of_around("has_bfloat16"),
    "torch.backends.mps.is_available": _constant(value=False),
    "is_initialized": _distributed,
    "torch.distributed.is_initialized": _distributed,
    "torch.distributed.is_available": _constant(value=True),
}
for _name in ("copy.copy", "copy.deepcopy", "dataclasses.asdict", "functools.partial"):
    _HANDLERS[_name] = _HANDLERS[_name.rpartition(".")[2]]
