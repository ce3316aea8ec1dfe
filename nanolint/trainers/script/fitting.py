"""Loops that libraries have: the Trainer of transformers and trl, Lightning's Trainer and Fabric.

What they train with is what their caller gave them; of the model, and so of the memory, nothing is
known here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Given, Number, Place, Surface
from nanolint.source.python import new_tree
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.attributes import attribute
from nanolint.trainers.script.core import Loop
from nanolint.trainers.script.operations import row, scalar, unwrapped
from nanolint.trainers.script.things import (
    NONE,
    REST,
    TERMS,
    Class,
    External,
    Function,
    Instance,
    Repeated,
    Row,
    Table,
    Tensor,
    Thing,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nanolint.trainers.script.core import Core

# transformers/training_args.py: what they are where nobody says.
MICRO_BATCH, PASSES = "per_device_train_batch_size", "gradient_accumulation_steps"
OF_TRANSFORMERS: Mapping[str, int] = {MICRO_BATCH: 8, PASSES: 1}
ARGUMENTS = ("TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig")
_TRAINERS = ("Trainer", "Seq2SeqTrainer", "SFTTrainer")  # others give a model more rows
BY_LIBRARY = "a library trains it"
MADE = "a function of the script makes it for Trainer"
_LIBRARIES = ("transformers", "trl")
_LIGHTNING = ("lightning", "pytorch_lightning")
_KEPT = ("setup", "setup_module", "setup_optimizers", "setup_dataloaders")
_ACCUMULATE = "accumulate_grad_batches"
PRECISIONS = ("fp16", "bf16")
ENGINE = "accelerate.Accelerator"  # what Trainer runs its model by
FITTED = "lightning.Fabric.model"  # what Fabric.setup makes of one
_LOOP = new_tree("for _ in range(n):\n    loss.backward()").body[0]


def method(
    core: Core,
    owner: Instance,
    name: str,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    place: Place,
) -> Thing | None:
    """What calling a method of such a trainer gives; None of anything else."""
    of = _library_class(owner.of)
    package = of.name.partition(".")[0] if of is not None else ""
    if of is None:
        return None
    if name == "pad" and "okenizer" in of.name:
        return _padded(arguments, place)
    if of.last == "Fabric" and package in _LIGHTNING:
        return _of_fabric(core, owner, name, arguments)
    if name == "train" and of.last in _TRAINERS and package in _LIBRARIES:
        settings = owner.argument(1, "args") or owner.named.get(REST)
        model = owner.argument(0, "model")
        if package != "transformers":
            model = core.unknown(BY_LIBRARY, place)
        return _trained(core, settings, model or core.unknown(MADE, place), place)
    if name == "fit" and of.last == "Trainer" and package in _LIGHTNING:
        return _fitted(core, owner, arguments, named, place)
    return None


def _padded(arguments: Sequence[Thing], place: Place) -> Tensor | None:
    """``tokenizer.pad(samples)`` of transformers: a row for each sample."""
    samples = arguments[0] if arguments else None
    if not isinstance(samples, Repeated):
        return None
    longest = NotKnown(unknown_reasons.SEQUENCE, place.path, place.line)
    return Tensor((samples.count, longest), perhaps_more=True, perhaps_several=True)


def _library_class(of: Class | External) -> External | None:
    """The class of a library that it is, or derives from."""
    if isinstance(of, External):
        return of
    found = (_library_class(each) for each in of.bases if isinstance(each, (Class, External)))
    return next((each for each in found if each is not None), None)


def _of_fabric(core: Core, owner: Instance, name: str, arguments: Sequence[Thing]) -> Thing | None:
    if name in _KEPT and arguments:
        kept = list(arguments)
        if name in ("setup", "setup_module"):
            inner = unwrapped(kept[0])
            fields = inner.fields if isinstance(inner, Instance) else {}
            kept[0] = Instance(External(FITTED), owner.place, fields)
        return row(kept) if len(kept) > 1 else kept[0]
    if name == "launch":
        started = arguments[0] if arguments else NONE
        if isinstance(started, Function):
            return core.call(started, [owner, *arguments[1:]], {}, owner.place)
        return NONE
    return None


def _trained(core: Core, settings: Thing | None, model: Thing, place: Place) -> Thing:
    """``Trainer(model, args).train()``."""
    micro_batch, passes = (_setting(core, settings, each, place) for each in OF_TRANSFORMERS)
    automatic = _field(settings, "auto_find_batch_size")
    if automatic is not None and scalar(automatic) is not False:
        micro_batch = core.unknown("a batch that Trainer finds by itself", place)
    unknown = NotKnown(unknown_reasons.SAMPLE, place.path, place.line)
    engine = Instance(External(ENGINE), place, named={"mixed_precision": _precision(settings)})
    _steps(core, [Tensor((micro_batch, unknown))], passes, (model, engine), place)
    return core.unknown("the result of Trainer.train", place)


def _precision(settings: Thing | None) -> Thing:
    """The precision that it asks accelerate for."""
    for name in PRECISIONS:
        found = _field(settings, name)
        if isinstance(found, NotKnown):
            return found
        if str(scalar(found)).lower() in ("true", "yes", "1"):
            return Number(name)
    return Number("no")


def _setting(core: Core, settings: Thing | None, name: str, place: Place) -> Thing:
    """One of the TrainingArguments; without any, Trainer takes their defaults."""
    default = Given(name, OF_TRANSFORMERS[name], Surface.CONSTANT, Place(place.path, place.line))
    if settings is None or settings == NONE:
        return default
    if not isinstance(settings, Instance):
        return settings if isinstance(settings, NotKnown) else core.unknown(name, place)
    of = _library_class(settings.of)
    if of is None or of.last not in ARGUMENTS:
        return core.unknown(f"{name} of {of.name if of else 'what it is given'}", place)
    return _field(settings, name) or default


def _field(settings: Thing | None, name: str) -> Thing | None:
    if not isinstance(settings, Instance):
        return None
    rest = settings.fields.get(REST) or settings.named.get(REST)
    return settings.fields.get(name) or rest


def _fitted(
    core: Core,
    trainer: Instance,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    place: Place,
) -> Thing | None:
    """``Trainer().fit(module, loader)``: the loader's batches go through ``training_step``."""
    given = dict(zip(("model", "train_dataloaders"), arguments, strict=False)) | dict(named)
    module = given.get("model")
    step = attribute(core, module, "training_step", place) if isinstance(module, Instance) else None
    if not isinstance(module, Instance) or not isinstance(step, Function):
        return None
    if scalar(module.fields.get("automatic_optimization")) is False:
        return core.unknown("a module that steps by itself", place)
    batch = _first(core, module, given, place)
    passes = trainer.named.get(_ACCUMULATE) or trainer.named.get(REST) or Number(1)
    before = len(core.state.events)
    loop = Loop(_LOOP, place, None, trains=True)
    core.state.loops.append(loop)
    try:
        core.call(step, [batch, core.unknown("an index", place)], {}, place)
    finally:
        core.state.loops.pop()
    events = core.state.events[before:]
    del core.state.events[before:]  # of a model that Lightning has moved and cast
    ahead = [each.tensors for each in events if each.kind == "model" and not each.behind]
    found = next((each for each in reversed(ahead) if each), tuple(_tensors(batch)))
    unknown = core.unknown(BY_LIBRARY, place)
    _steps(core, found, passes, (unknown, unknown), place)
    return NONE


def _first(core: Core, module: Instance, given: Mapping[str, Thing], place: Place) -> Thing:
    """The first batch of what is fitted: a loader, a data module, or the module's own loader."""
    loader = given.get("train_dataloaders") or given.get("datamodule") or module
    if isinstance(loader, Instance) and isinstance(loader.of, Class):
        made = attribute(core, loader, "train_dataloader", place)
        if isinstance(made, Function):
            ready = attribute(core, loader, "setup", place)
            if isinstance(ready, Function):
                core.call(ready, [Number("fit")], {}, place)
            loader = core.call(made, [], {}, place)
    return core.next_of(loader, place)


def _tensors(batch: Thing) -> Iterator[Tensor]:
    """The tensors of a batch, in their order."""
    if isinstance(batch, Tensor):
        yield batch
    elif isinstance(batch, Row):
        for each in batch.items:
            yield from _tensors(each)
    elif isinstance(batch, Table):
        for each in batch.entries.values():
            yield from _tensors(each)


def _steps(
    core: Core,
    batch: Sequence[Tensor],
    passes: Thing,
    trained: tuple[Thing, Thing],
    place: Place,
) -> None:
    """The loop: so many passes with a batch, and a step, of a model by what goes backward."""
    model, engine = trained
    state = core.state
    counted = passes if isinstance(passes, (NotKnown, *TERMS)) else None
    outer, inner = (Loop(_LOOP, place, count, trains=True) for count in (None, counted))
    state.loops.append(outer)
    state.loops.append(inner)
    state.happen("model", place, model, batch)
    state.happen("backward", place, engine, plain=True)
    state.loops.pop()
    state.happen("step", place, model)
    state.loops.pop()
