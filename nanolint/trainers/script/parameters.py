"""The model that is trained, as the script builds it: its class, what that is given, its
parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.described import BuiltModel
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.trainers.script.operations import row, scalar, unwrapped
from nanolint.trainers.script.things import (
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
    from collections.abc import Iterator, Mapping

    from nanolint.run.terms import Term

# Modules of torch that have none.
_NONE = frozenset({"Dropout", "GELU", "ReLU", "SiLU", "Identity", "Softmax", "Tanh", "Sigmoid"})
_WEIGHTED = ("Linear", "Embedding", "LayerNorm", "RMSNorm")
_HOLDERS = frozenset({"ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict"})


def parameters(thing: Thing) -> Thing:
    """The parameters of a module as a list of tensors, each once, or why they are not known."""
    try:
        found = list(_walk(thing, set()))
    except _Unknown as error:
        return error.reason
    return row(found)


class _Unknown(Exception):
    def __init__(self, reason: NotKnown) -> None:
        super().__init__(reason.reason)
        self.reason = reason


def _walk(thing: Thing, seen: set[int]) -> Iterator[Tensor]:
    thing = unwrapped(thing)
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, Instance):
        if isinstance(thing.of, External):
            yield from _of_library(thing, thing.of.last, seen)
        elif thing.of.library_base in _WEIGHTED:
            yield from _known(thing, thing.of.library_base)
        elif thing.is_model:
            for value in list(thing.fields.values()):
                yield from _walk(value, seen)
    elif isinstance(thing, (Row, Table)):
        inner = thing.items if isinstance(thing, Row) else thing.entries.values()
        for each in inner:
            yield from _walk(each, seen)
    elif isinstance(thing, Repeated) and any(True for _ in _walk(thing.item, set())):
        raise _Unknown(NotKnown("how many parameters a model has"))
    elif isinstance(thing, NotKnown) and "condition" in thing.reason:
        raise _Unknown(thing)


def _of_library(module: Instance, name: str, seen: set[int]) -> Iterator[Tensor]:
    if not isinstance(module.of, External) or not module.of.name.startswith("torch.nn."):
        return
    if name in _HOLDERS:
        for each in module.arguments:
            yield from _walk(each, seen)
    elif name in _WEIGHTED:
        yield from _known(module, name)
    elif name == "Parameter":
        held = module.arguments[0] if module.arguments else None
        yield held if isinstance(held, Tensor) else _tensor(None)
    elif name not in _NONE and name[:1].isupper():
        raise _Unknown(NotKnown(f"how many parameters {module.of.name} has"))


def _known(module: Instance, name: str) -> Iterator[Tensor]:
    """The parameters of torch's own modules, by what they are built with."""
    bias = scalar(module.argument(2, "bias") or Number(value=True)) is True
    if name == "Linear":
        inputs, outputs = module.argument(0, "in_features"), module.argument(1, "out_features")
        yield _tensor(outputs, inputs)
        if bias:
            yield _tensor(outputs)
    elif name == "Embedding":
        yield _tensor(module.argument(0, "num_embeddings"), module.argument(1, "embedding_dim"))
    else:
        size = module.argument(0, "normalized_shape")
        yield _tensor(size)
        if name == "LayerNorm" and scalar(module.named.get("bias") or Number(value=True)) is True:
            yield _tensor(size)


def weight(module: Instance) -> Thing | None:
    """The attribute ``weight`` of one of torch's modules."""
    name = module.of.last if isinstance(module.of, External) else module.of.library_base
    try:
        return next(iter(_known(module, name)), None) if name in _WEIGHTED else None
    except _Unknown as error:
        return error.reason


def _tensor(*dimensions: Thing | None) -> Tensor:
    if any(each is None for each in dimensions):
        raise _Unknown(NotKnown("how many parameters a model has"))
    return Tensor(tuple(each for each in dimensions if each is not None))


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
