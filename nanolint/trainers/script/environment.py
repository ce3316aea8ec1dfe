"""What a script asks of what is around it: the environment, the launch line, the card."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.said import UNKNOWN as CARD_NAME
from nanolint.gpus.said import free_of
from nanolint.run.equation import NotKnown
from nanolint.run.flags import literal, plain_name
from nanolint.run.terms import Given, Number, Surface, World
from nanolint.trainers.script.operations import row, scalar
from nanolint.trainers.script.things import NONE, External, Instance, Thing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core, Handler

_RANKS = ("RANK", "LOCAL_RANK")
# What srun and mpirun set in their place: slurm.schedmd.com/srun.html, docs.open-mpi.org.
_OF_TASKS = dict.fromkeys(
    ("SLURM_PROCID", "SLURM_LOCALID", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"), "0"
) | dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS", "OMPI_COMM_WORLD_SIZE"))
# What torchrun sets for each process, and for a single one: docs.pytorch.org, elastic/run.html.
_ADDRESSES = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
ALONE = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", **_ADDRESSES}
LAUNCHED = frozenset(ALONE)


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
    word = core.state.around.variable(name)
    if name in _RANKS and word is None:
        return Number("0") if world > 1 or default is None else default
    if word is not None and name in _OF_TASKS:
        return Number("0") if _OF_TASKS[name] else World(world)
    if word is None and world > 1 and name in _ADDRESSES:
        return Number(_ADDRESSES[name])
    if word is not None:
        if isinstance(word.value, NotKnown):
            return word.value
        place_of = word.place or core.state.around.launched
        where = default.place if isinstance(default, Given) else None
        return _noted(core, Given(name, word.value, Surface.VARIABLE, place_of, where))
    if isinstance(default, Given):
        core.state.given.pop(default, None)
        return _noted(core, Given(name, default.value, Surface.ENVIRONMENT, default.place))
    if isinstance(default, NotKnown):
        return replace(default, reason=f"{default.reason}, if {name} is not set")
    return NONE if default is None else default


def _required(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """``os.environ[name]``."""
    found = _variable(core, arguments, named, place)
    if found == NONE and scalar(arguments[0]) in _OF_TASKS:  # without a launch line, too
        return Number("0") if _OF_TASKS[str(scalar(arguments[0]))] else World(1)
    if found == NONE:
        return core.unknown(f"reads {scalar(arguments[0])} of the environment", place)
    return found


def _noted(core: Core, given: Given) -> Given:
    core.state.given[given] = None
    return given


def _capability(
    core: Core, _arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    found = core.state.around.capability
    if found is None:
        return core.unknown("asks the card for its compute capability", place)
    return row([Number(each) for each in found])


def _name(
    core: Core, _arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    model = core.state.around.model
    return replace(core.unknown(CARD_NAME, place), like=f"*{model}*" if model else "")


def _memory(
    core: Core, _arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``mem_get_info``: what is free, and all of it."""
    total = core.state.around.memory_bytes
    unknown = core.unknown("asks the card for its memory", place)
    if total is None:
        return row([unknown, unknown])
    return row([replace(unknown, between=free_of(total)), Number(total)])


def _properties(
    core: Core, _arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    around = core.state.around
    memory: Thing = core.unknown("asks the card for its memory", place)
    if around.memory_bytes is not None:
        memory = Number(around.memory_bytes)
    fields: dict[object, Thing] = {"total_memory": memory}
    fields["name"] = _name(core, (), {}, place)
    if around.capability is not None:
        fields |= {"major": Number(around.capability[0]), "minor": Number(around.capability[1])}
    return Instance(External("torch.cuda.properties"), place, fields)


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


def _constant(value: bool) -> Handler:
    return lambda _core, _arguments, _named, _place: Number(value)


def _of_around(name: str) -> Handler:
    return lambda core, _arguments, _named, _place: Number(getattr(core.state.around, name))


def _distributed(
    core: Core, _arguments: Sequence[Thing], _named: Mapping[str, Thing], _place: Place
) -> Thing:
    return Number(core.state.around.world_size > 1)


HANDLERS: dict[str, Handler] = {
    "exec": _exec,
    "os.environ": _required,
    "os.environ.get": _variable,
    "os.getenv": _variable,
    "torch.cuda.get_device_capability": _capability,
    "torch.cuda.get_device_name": _name,
    "torch.cuda.get_device_properties": _properties,
    "torch.cuda.mem_get_info": _memory,
    "torch.cuda.memory.mem_get_info": _memory,
    "torch.cuda.is_available": _constant(value=True),
    "torch.cuda.is_bf16_supported": _of_around("has_bfloat16"),
    "torch.backends.mps.is_available": _constant(value=False),
    "is_initialized": _distributed,
    "torch.distributed.is_initialized": _distributed,
    "torch.distributed.is_available": _constant(value=True),
}
