"""DeepSpeed's engine and its configuration: a table, or a JSON file of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number, Place, World
from nanolint.source.settings_text import read_json
from nanolint.trainers.script.arguments import is_parser, method
from nanolint.trainers.script.operations import made, row, scalar, unwrapped
from nanolint.trainers.script.settings_files import settings_at
from nanolint.trainers.script.things import NONE, TERMS, Instance, Table, Thing, Wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.run.terms import Term
    from nanolint.trainers.script.core import Core, Handler

ENGINE = "deepspeed"
CONFIG = "DeepSpeed's configuration"  # the field of a model that holds it
# deepspeed/runtime/constants.py
_PASSES, _TOTAL = "gradient_accumulation_steps", "train_batch_size"
_MICRO_BATCH = "train_micro_batch_size_per_gpu"


# deepspeed/runtime/config.py: DtypeEnum.
_DTYPES: Mapping[object, str] = {
    **dict.fromkeys(("bf16", "bfloat16", "torch.bfloat16"), "bfloat16"),
    **dict.fromkeys(("fp16", "float16", "half", "torch.float16", "torch.half"), "float16"),
}


def _initialize(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """``deepspeed.initialize``: the engine around the model, an optimizer, a loader, a schedule."""
    given = dict(zip(("args", "model", "optimizer"), arguments, strict=False)) | dict(named)
    model = given.get("model")
    others = [core.unknown("the result of deepspeed.initialize", place) for _ in range(3)]
    inner = unwrapped(model) if model is not None else None
    if model is None or not isinstance(inner, Instance):
        return row([core.unknown("the model that DeepSpeed trains", place), *others])
    core.state.journal.write(inner.fields, CONFIG, _configuration(core, given, place))
    optimizer = given.get("optimizer")
    return row([Wrapped(model, ENGINE), optimizer or others[0], *others[1:]])


def _configuration(core: Core, given: Mapping[str, Thing], place: Place) -> Thing:
    found = given.get("config") or given.get("config_params")
    arguments = given.get("args")
    if found is None and isinstance(arguments, Instance):
        found = arguments.fields.get("deepspeed_config")
    if found is None or isinstance(found, (Table, NotKnown)):
        return found or core.unknown("the configuration of DeepSpeed", place)
    return settings_at(core, found, read_json, "a JSON file", place)


def passes_of_engine(engine: Thing, world: int, place: Place) -> Term | NotKnown | None:
    """How often DeepSpeed goes backward for a step; None where ``engine`` is none of its own.

    As deepspeed/runtime/config.py, ``_set_batch_related_parameters``, works it out.
    """
    config = _of_engine(engine)
    if config is None or isinstance(config, NotKnown):
        return config
    passes, total, micro_batch = (
        config.entries.get(name) for name in (_PASSES, _TOTAL, _MICRO_BATCH)
    )
    if total is None and micro_batch is None:
        why = f"DeepSpeed's configuration, which lacks {_TOTAL} and {_MICRO_BATCH}"
        return NotKnown(why, place.path, place.line)
    if passes is None and total is not None and micro_batch is not None:
        each = made("*", (micro_batch, World(world)), place.path, place.line)
        passes = made("//", (total, each), place.path, place.line)
    elif passes is None:
        passes = Number(1)
    if isinstance(passes, NotKnown):
        return passes
    if isinstance(passes, TERMS) and isinstance(passes.value, int):
        return passes
    return NotKnown("the passes in DeepSpeed's configuration", place.path, place.line)


def size_of_engine(engine: Thing, name: str, world: int, place: Place) -> Thing | None:
    """What ``engine.train_micro_batch_size_per_gpu()`` and its like give; None of anything else."""
    config = _of_engine(engine) if name in (_MICRO_BATCH, _TOTAL, _PASSES) else None
    if config is None or isinstance(config, NotKnown):
        return config
    passes = passes_of_engine(engine, world, place)
    if passes is None or isinstance(passes, NotKnown) or name == _PASSES:
        return passes
    each = made("*", (passes, World(world)), place.path, place.line)
    total, micro_batch = config.entries.get(_TOTAL), config.entries.get(_MICRO_BATCH)
    if name == _MICRO_BATCH:
        return micro_batch or made("//", (total or NONE, each), place.path, place.line)
    return total or made("*", (micro_batch or NONE, each), place.path, place.line)


def precision_of_engine(engine: Thing) -> Term | NotKnown | None:
    """What DeepSpeed casts the model to; None where ``engine`` is none of its own."""
    config = _of_engine(engine)
    if config is None or isinstance(config, NotKnown):
        return config
    autocast = config.entries.get("torch_autocast")
    switch = autocast.entries.get("enabled") if isinstance(autocast, Table) else autocast
    if isinstance(autocast, Table) and switch is not None and scalar(switch) is not False:
        named = _DTYPES.get(scalar(autocast.entries.get("dtype")))
        known = named is not None and scalar(switch) is True
        return Number(named) if known else NotKnown("torch_autocast of DeepSpeed's configuration")
    for entry, dtype in (("bf16", "bfloat16"), ("bfloat16", "bfloat16"), ("fp16", "float16")):
        table = config.entries.get(entry)
        enabled = table.entries.get("enabled") if isinstance(table, Table) else table
        if isinstance(enabled, NotKnown) or isinstance(scalar(enabled), str):
            return NotKnown(f"{entry} of DeepSpeed's configuration")
        if scalar(enabled):
            return Number(dtype)
    return Number("float32")


def _of_engine(engine: Thing) -> Table | NotKnown | None:
    if not isinstance(engine, Wrapped) or engine.by != ENGINE:
        return None
    model = unwrapped(engine)
    config = model.fields.get(CONFIG) if isinstance(model, Instance) else None
    if isinstance(config, (Table, NotKnown)):
        return config
    return NotKnown("the configuration of DeepSpeed")


def _flags(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``deepspeed.add_config_arguments(parser)``: the same parser with flags of DeepSpeed's."""
    parser = arguments[0] if arguments else None
    if not isinstance(parser, Instance) or not is_parser(parser):
        return core.unknown("the flags of DeepSpeed", place)
    method(core, parser, "add_argument", [Number("--deepspeed_config")], {}, place)
    return parser


HANDLERS: dict[str, Handler] = {
    "deepspeed.initialize": _initialize,
    "deepspeed.add_config_arguments": _flags,
}
