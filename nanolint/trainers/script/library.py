"""The functions and classes of libraries whose results are known without calling them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.downloads import LENGTH, SIZES, vocabulary_of
from nanolint.run.equation import NotKnown
from nanolint.run.terms import FUNCTIONS, Given, Number, World
from nanolint.trainers.script import (
    builtin_functions,
    engines,
    environment,
    settings_files,
    starters,
    tensors,
    walks,
)
from nanolint.trainers.script.arguments import is_parser, takes_others
from nanolint.trainers.script.calls import note_library_module
from nanolint.trainers.script.conditions import truth
from nanolint.trainers.script.loaders import length
from nanolint.trainers.script.operations import made, scalar, unwrapped
from nanolint.trainers.script.things import (
    TERMS,
    External,
    Function,
    Instance,
    Repeated,
    Row,
    Tensor,
    Thing,
    Wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core, Handler

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
            return NotKnown(walks.FILLED, place.path, place.line)
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
            return NotKnown(walks.MUCH, place.path, place.line)
    return made(name, arguments, place.path, place.line)


def _read_as(given: Given, name: str, place: Place) -> Thing:
    """A number that was given as a text, as the environment gives them."""
    number = made(name, (Number(given.value),), place.path, place.line)
    if isinstance(number, NotKnown):
        return number
    return Given(given.key, scalar(number), given.surface, given.place, given.default)


_HANDLERS: dict[str, Handler] = {
    **builtin_functions.HANDLERS,
    **environment.HANDLERS,
    **settings_files.HANDLERS,
    **engines.HANDLERS,
    **starters.HANDLERS,
}
