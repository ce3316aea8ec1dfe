"""The model that is trained, as the script builds it: its class, its parameters and its shape."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.described import SHAPE, BuiltModel, Role
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.source.python import of_node
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
    Scope,
    Table,
    Tensor,
    Thing,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.run.terms import Term
    from nanolint.trainers.script.core import State

OF_LIBRARY = " is a library's"  # how the reason ends if the model's class is not of the project
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
        return NotKnown(f"{model.of.name}{OF_LIBRARY}", model.place.path, model.place.line)
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


_VIEWS = ("view", "reshape")


def shape_of(model: Thing | None, state: State) -> dict[Role, Term | NotKnown]:
    """Layers, width, heads and vocabulary of the model, each with why it is not known."""
    if not isinstance(model, Instance):
        why = model if isinstance(model, NotKnown) else NotKnown("which model is built")
        return dict.fromkeys(SHAPE, why)
    built = state.built.get(id(model), [])
    rows, width = _embedding(built, model)
    return {
        Role.LAYERS: _layers(built, model),
        Role.WIDTH: width,
        Role.HEADS: _heads(built, model),
        Role.VOCABULARY: rows,
    }


def _kind(instance: Instance) -> str:
    return instance.of.last if isinstance(instance.of, External) else instance.of.library_base


def _embedding(
    built: list[tuple[Instance, tuple[Thing, ...]]], model: Instance
) -> tuple[Term | NotKnown, Term | NotKnown]:
    """The rows and columns of the embedding of tokens: the one that as many logits belong to."""
    why = NotKnown("no embedding was found", model.place.path, model.place.line)
    tables = [each for each, repeated in built if _kind(each) == "Embedding" and not repeated]
    heads = [
        each.argument(1, "out_features") for each, repeated in built if _kind(each) == "Linear"
    ]
    tables.sort(key=lambda each: each.argument(0, "num_embeddings") not in heads)
    for each in tables:
        rows, columns = each.argument(0, "num_embeddings"), each.argument(1, "embedding_dim")
        return (
            rows if isinstance(rows, (NotKnown, *TERMS)) else why,
            columns if isinstance(columns, (NotKnown, *TERMS)) else why,
        )
    return why, why


def _layers(built: list[tuple[Instance, tuple[Thing, ...]]], model: Instance) -> Term | NotKnown:
    """How often the part is repeated that holds most modules."""
    counts: dict[Thing, int] = {}
    for _, repeated in built:
        if repeated and isinstance(repeated[0], (NotKnown, *TERMS)):
            counts[repeated[0]] = counts.get(repeated[0], 0) + 1
    if not counts:
        return NotKnown("no repeated layer was found", model.place.path, model.place.line)
    most = max(counts, key=lambda each: counts[each])
    return most if isinstance(most, (NotKnown, *TERMS)) else NotKnown("how many layers")


def _heads(built: list[tuple[Instance, tuple[Thing, ...]]], model: Instance) -> Term | NotKnown:
    """H of the view in four dimensions that an attention takes of its queries: (B, T, H, D)."""
    for each, _ in built:
        forward = each.of.find("forward") if isinstance(each.of, Class) else None
        if not isinstance(forward, Function) or isinstance(forward.node, ast.Lambda):
            continue
        for expression in _third_dimensions(forward.node):
            found = _attribute_of(each, expression, forward.scope)
            if found is not None:
                return found
    return NotKnown("no view of heads was found", model.place.path, model.place.line)


@of_node
def _third_dimensions(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[ast.expr, ...]:
    """The third size of each view in four dimensions, and what names in it are set to."""
    written = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in _VIEWS and len(node.args) == 4:
            third = node.args[2]
            found.append(written.get(third.id, third) if isinstance(third, ast.Name) else third)
    return tuple(found)


def _attribute_of(owner: Instance, node: ast.expr, _scope: Scope) -> Term | None:
    """What ``self.n_head`` or ``self.config.n_head`` is."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Number(node.value)
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not names or not isinstance(node, ast.Name) or node.id != "self":
        return None
    found: Thing | None = owner
    for name in reversed(names):
        found = found.fields.get(name) if isinstance(found, Instance) else None
    return found if isinstance(found, TERMS) else None


def own_cast(model: Thing, state: State) -> External | NotKnown | None:
    """The data type to which a model casts by itself: ``self.wte.to(dtype=COMPUTE_DTYPE)``."""
    if not isinstance(model, Instance):
        return None
    for each in (model, *(instance for instance, _ in state.built.get(id(model), []))):
        if not isinstance(each.of, Class):
            continue
        for name in _cast_to(each.of.node):
            found: Thing | None = each.of.scope.names.get(name[0])
            if len(name) == 2 and isinstance(found, External):
                found = External(f"{found.name}.{name[1]}")
            if isinstance(found, NotKnown):
                return found
            if isinstance(found, External) and found.name in _DTYPES:
                return found
    return None


_DTYPES = ("torch.bfloat16", "torch.float16", "torch.half")


@of_node
def _cast_to(node: ast.ClassDef) -> tuple[tuple[str, ...], ...]:
    """The names to which methods of a class cast: ``COMPUTE_DTYPE``, ``torch.bfloat16``."""
    found: list[tuple[str, ...]] = []
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr == "to":
            for each in (*call.args, *(keyword.value for keyword in call.keywords)):
                if isinstance(each, ast.Name):
                    found.append((each.id,))
                elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
                    found.append((each.value.id, each.attr))
    return tuple(found)
