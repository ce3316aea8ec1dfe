"""What iterating over a thing gives first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.trainers.script.attributes import attribute
from nanolint.trainers.script.operations import merged, row, scalar
from nanolint.trainers.script.things import (
    TERMS,
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

_PASS_ON = ("cycle", "tqdm", "prepare", "islice", "trange")  # what they iterate over


def first_item(core: Core, thing: Thing, place: Place) -> Thing:
    """What iterating over a thing gives first."""
    if isinstance(thing, Row):
        unknown = core.unknown("an item of a list", place)
        if not thing.items:
            return unknown
        found: Thing | None = thing.items[0]
        for each in thing.items[1:]:
            found = merged(found, each, unknown)
        return found or unknown
    if isinstance(thing, Repeated):
        return thing.item
    if isinstance(thing, Tensor):
        return Tensor(thing.shape[1:]) if thing.shape else core.unknown("an item", place)
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
    return core.unknown("what is iterated over", place)


def _from_library(core: Core, thing: Instance, place: Place) -> Thing:
    of = thing.of
    if isinstance(of, External) and of.last == "generator":
        return thing.fields.get("item") or core.unknown("what a generator gives", place)
    if isinstance(of, External) and of.last in ("DataLoader", "StatefulDataLoader"):
        return _batched(core, thing, place)
    inner = thing.arguments[0] if thing.arguments else None
    passes_on = isinstance(of, External) and of.last in _PASS_ON
    if passes_on and inner is not None:
        return first_item(core, inner, place)
    name = of.name if isinstance(of, External) else "a library"
    return core.unknown(f"what {name} gives", place)


def _batched(core: Core, loader: Instance, place: Place) -> Thing:
    """What torch's DataLoader makes of the items of its dataset."""
    sampler = loader.named.get("batch_sampler")
    size = loader.argument(1, "batch_size") or Number(1)
    if sampler is not None or loader.named.get("collate_fn") is not None:
        return core.unknown("what a DataLoader collates", place)
    dataset = loader.argument(0, "dataset")
    item = first_item(core, dataset, place) if dataset is not None else None
    if item is None:
        return core.unknown("what a DataLoader gives", place)
    return (
        _collated(item, size, place)
        if scalar(size) is not None or not isinstance(size, TERMS)
        else item
    )


def _collated(item: Thing, size: Thing, place: Place) -> Thing:
    if isinstance(item, Tensor):
        return Tensor(None if item.shape is None else (size, *item.shape))
    if isinstance(item, Row):
        return row([_collated(each, size, place) for each in item.items])
    if isinstance(item, Table):
        return Table({key: _collated(each, size, place) for key, each in item.entries.items()})
    unknown = NotKnown("how long a sequence is", place.path, place.line)
    return Tensor((size, unknown))
