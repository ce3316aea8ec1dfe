"""The model that is trained, as the script builds it: its class and what that is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.described import BuiltModel
from nanolint.run.equation import NotKnown
from nanolint.trainers.script.things import (
    REST,
    TERMS,
    Class,
    External,
    Function,
    Instance,
    Row,
    Table,
    Tensor,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.run.terms import Term
    from nanolint.trainers.script.things import Thing


def built_model(model: Thing | None) -> BuiltModel | NotKnown:
    """Where the class of ``model`` is and what it is built with, or why that is not known."""
    if not isinstance(model, Instance):
        if isinstance(model, NotKnown):
            return model
        return NotKnown("nanolint did not find the model that is trained")
    if isinstance(model.of, External):
        return NotKnown(f"{model.of.name} is a library's", model.place.path, model.place.line)
    first = model.arguments[0] if model.arguments else None
    path = model.of.scope.source.path
    if isinstance(first, Instance) and not isinstance(first.of, External):
        held = {str(key): each for key, each in first.fields.items()}
        return BuiltModel(model.of.node.name, path, dict(_plain(held)), model.place)
    names = _parameters(model)
    given = {**dict(zip(names, model.arguments, strict=False)), **model.named}
    return BuiltModel(model.of.node.name, path, dict(_plain(given)), model.place)


def _parameters(model: Instance) -> list[str]:
    init = model.of.find("__init__") if isinstance(model.of, Class) else None
    if not isinstance(init, Function):
        return []
    return [each.arg for each in init.node.args.args][1:]


def _plain(held: Mapping[str, Thing]) -> Iterator[tuple[str, Term | NotKnown]]:
    for name, each in held.items():
        if name == REST:
            continue
        if isinstance(each, (NotKnown, *TERMS)):
            yield name, each
        elif isinstance(each, (Row, Table, Tensor)):
            yield name, NotKnown("not one plain value")
