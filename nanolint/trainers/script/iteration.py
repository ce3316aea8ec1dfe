"""What iterating over a thing gives first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.trainers.script import walks
from nanolint.trainers.script.attributes import attribute
from nanolint.trainers.script.loaders import LOADERS, batched
from nanolint.trainers.script.operations import merged, row
from nanolint.trainers.script.things import (
    External,
    Function,
    Instance,
    Repeated,
    Row,
    Tensor,
    Thing,
)

if TYPE_CHECKING:
    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core

# What they iterate over.
_PASS_ON = ("cycle", "tqdm", "prepare", "islice", "trange", "Subset", "track")


def first_item(core: Core, thing: Thing, place: Place) -> Thing:
    """What iterating over a thing gives first."""
    if isinstance(thing, Row):
        unknown = core.unknown(walks.ITEM_OF_LIST, place)
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
        return Tensor(shape[1:], more) if shape else core.unknown(walks.ITEM, place)
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
    return core.unknown(walks.ITERATED, place)


def _from_library(core: Core, thing: Instance, place: Place) -> Thing:
    of = thing.of
    if isinstance(of, External) and of.last == "generator":
        return thing.fields.get("item") or core.unknown(walks.GENERATED, place)
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
