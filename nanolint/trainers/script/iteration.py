"""What iterating over a thing gives first: of torch's DataLoader so many samples, put together.

The last batch may be smaller where ``drop_last`` is not set; the largest is what counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.attributes import attribute
from nanolint.trainers.script.operations import made, merged, row, scalar
from nanolint.trainers.script.things import (
    CALLABLE,
    NONE,
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
    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core

LOADERS = ("DataLoader", "StatefulDataLoader")
# Where DataLoader's parameters stand: torch/utils/data/dataloader.py.
_DATASET, _SIZE, _DRAWN, _SAMPLER, _COLLATE, _DROP = 0, 1, 3, 4, 6, 8


def batched(core: Core, loader: Instance, place: Place) -> Thing:
    """What a DataLoader gives first."""
    dataset = loader.argument(_DATASET, "dataset")
    if dataset is None:
        return core.unknown(unknown_reasons.LOADED, place)
    item, size = core.next_of(dataset, place), _size(core, loader, place)
    if size == NONE:
        return item
    collate = loader.argument(_COLLATE, "collate_fn")
    if collate is None or collate == NONE:
        return collated(item, size, place)
    return _by_function(core, collate, item, size, place)


def length(core: Core, thing: Instance, place: Place) -> Thing | None:
    """``len`` of a data set of the project, or of a loader of one; None where it is not known."""
    if isinstance(thing.of, Class):
        called = attribute(core, thing, "__len__", place)
        found = core.call(called, [], {}, place) if isinstance(called, Function) else None
        return found if isinstance(found, TERMS) else None
    if thing.of.last not in LOADERS:
        return None
    dataset, size = thing.argument(_DATASET, "dataset"), thing.argument(_SIZE, "batch_size")
    samplers = (thing.argument(_DRAWN, "sampler"), thing.argument(_SAMPLER, "batch_sampler"))
    if not isinstance(dataset, Instance) or any(each not in (None, NONE) for each in samplers):
        return None
    count, size = length(core, dataset, place), size or Number(1)
    dropped = thing.argument(_DROP, "drop_last") or Number(value=False)
    if count is None or size == NONE or not isinstance(dropped, TERMS):
        return count if size == NONE else None
    if not scalar(dropped):  # the last batch may be smaller
        one_less = made("-", (size, Number(1)), place.path, place.line)
        count = made("+", (count, one_less), place.path, place.line)
    return made("//", (count, size), place.path, place.line)


def _size(core: Core, loader: Instance, place: Place) -> Thing:
    sampler = loader.argument(_SAMPLER, "batch_sampler")
    if sampler is None or sampler == NONE:
        return loader.argument(_SIZE, "batch_size") or Number(1)
    found: Thing | None = None
    if isinstance(sampler, Instance) and isinstance(sampler.of, Class):
        found = attribute(core, sampler, "batch_size", place)
    elif isinstance(sampler, Instance) and isinstance(sampler.of, External):
        found = sampler.argument(1, "batch_size")
    is_size = isinstance(found, (NotKnown, *TERMS))
    return found if is_size and found else core.unknown(unknown_reasons.BATCHED, place)


def _by_function(core: Core, collate: Thing, item: Thing, size: Thing, place: Place) -> Thing:
    """What ``collate_fn`` makes of so many samples."""
    name = collate.of if isinstance(collate, Instance) else collate
    if isinstance(name, External):
        # transformers' collators have a row for each sample, but the one that makes one row of all.
        if "collat" in name.last.lower() and "flatten" not in name.last.lower():
            return collated(core.unknown("a sample", place), size, place)
        return core.unknown(f"the samples of {name.name}", place)
    if isinstance(collate, CALLABLE):
        before, core.state.collating = core.state.collating, True
        try:
            return core.call(collate, [Repeated(item, size)], {}, place)
        finally:
            core.state.collating = before
    return core.unknown(unknown_reasons.COLLATED, place)


def collated(item: Thing, size: Thing, place: Place) -> Thing:
    """``default_collate`` of so many samples that are like ``item``."""
    unknown = NotKnown(unknown_reasons.SEQUENCE, place.path, place.line)
    if isinstance(item, Tensor):
        if not item.shape and (item.shape is None or item.perhaps_more):
            return Tensor((size, unknown), perhaps_more=True)
        return Tensor((size, *item.shape), item.perhaps_more)
    if isinstance(item, Row) and item.count is None:
        return row([collated(each, size, place) for each in item.items])
    if isinstance(item, Table):
        return Table({key: collated(each, size, place) for key, each in item.entries.items()})
    if isinstance(item, TERMS):
        text = isinstance(scalar(item), str)
        return Repeated(item, size) if text else Tensor((size,))
    if isinstance(item, NotKnown) or (isinstance(item, Instance) and isinstance(item.of, External)):
        return Tensor((size, unknown), perhaps_more=True, perhaps_several=True)
    return unknown


# What they iterate over.
_PASS_ON = ("cycle", "tqdm", "prepare", "islice", "trange", "Subset", "track")


def first_item(core: Core, thing: Thing, place: Place) -> Thing:
    """What iterating over a thing gives first."""
    if isinstance(thing, Row):
        unknown = core.unknown(unknown_reasons.ITEM_OF_LIST, place)
        if not thing.items:
            return unknown
        found: Thing | None = thing.items[0]
        for each in thing.items[1:]:
            found = merged(found, each, unknown)
        return found or unknown
    if isinstance(thing, Repeated):
        return thing.item
    if isinstance(thing, Tensor) and thing.perhaps_several:
        return thing
    if isinstance(thing, Tensor):
        shape, more = thing.shape, thing.perhaps_more
        return Tensor(shape[1:], more) if shape else core.unknown(unknown_reasons.ITEM, place)
    if isinstance(thing, Instance):
        if isinstance(thing.of, External):
            return _from_library(core, thing, place)
        for name in ("__next__", "__iter__", "__getitem__"):
            called = attribute(core, thing, name, place)
            if isinstance(called, Function):
                arguments = [core.unknown("an index", place)] if name == "__getitem__" else []
                given = core.call(called, arguments, {}, place)
                if name == "__iter__" and given is not thing:
                    return first_item(core, given, place)
                if name != "__iter__":
                    return given
    if isinstance(thing, NotKnown):
        return thing
    return core.unknown(unknown_reasons.ITERATED, place)


def _from_library(core: Core, thing: Instance, place: Place) -> Thing:
    of = thing.of
    if isinstance(of, External) and of.last == "generator":
        return thing.fields.get("item") or core.unknown(unknown_reasons.GENERATED, place)
    if isinstance(of, External) and of.last in LOADERS:
        return batched(core, thing, place)
    inner = thing.arguments[0] if thing.arguments else None
    if isinstance(of, External) and of.last == "TensorDataset":
        return row([first_item(core, each, place) for each in thing.arguments])
    passes_on = isinstance(of, External) and of.last in _PASS_ON
    if passes_on and inner is not None:
        return first_item(core, inner, place)
    name = of.name if isinstance(of, External) else "a library"
    return core.unknown(f"the result of {name}", place)
