"""Calls of the project's own functions and classes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.source.python import of_node
from nanolint.source.updates import STEP, updates
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.attributes import attribute, bound_to
from nanolint.trainers.script.core import DEEPEST
from nanolint.trainers.script.fitting import FITTED
from nanolint.trainers.script.operations import merged, row, unwrapped
from nanolint.trainers.script.things import (
    NONE,
    REST,
    Class,
    External,
    Function,
    Instance,
    Row,
    Scope,
    Table,
    Tensor,
    Thing,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core

YIELDED = "yield"  # the name under which a generator's scope has what it gave
_SEQUENTIAL = "torch.nn.Sequential"
_MODELS = ("transformers", "peft", "x_transformers")  # packages that have them
GIVEN = "the output of the model"
_FOR_A_TASK = re.compile(r"For[A-Z]\w+$|LMHead")  # Qwen2ForCausalLM
_NO_GRADIENT = ("no_grad", "inference_mode")


def follow_function(
    core: Core,
    function: Function,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    place: Place,
) -> Thing:
    """What a call of a function gives: the value of the ``return`` that is reached."""
    state = core.state
    if function.name == STEP and _is_optimizer(function.bound):
        state.happen("step", place, function.bound or NONE)
        return NONE
    if function.name == "forward" and isinstance(function.bound, Instance) and not state.building:
        return call_model(core, function.bound, arguments, named, place)
    if state.depth >= DEEPEST:
        return core.unknown(f"{function.name}() is called too deeply", place)
    inner = Scope(function.scope.source, {}, _enclosing(function.scope))
    _bind_parameters(core, function, arguments, named, inner, place)
    if function.owner is not None:
        inner.names["__class__"] = function.owner
    generates = not isinstance(function.node, ast.Lambda) and _is_generator(function.node)
    if generates:
        inner.names[YIELDED] = row([])
    managers = [each for each in function.decorators if _manages(each)]
    state.managers += managers
    state.depth += 1
    try:
        if isinstance(function.node, ast.Lambda):
            return core.value(function.node.body, inner)
        flow = core.run(function.node.body, inner)
    finally:
        state.depth -= 1
        if managers:
            del state.managers[-len(managers) :]
    if generates:
        found = inner.names.get(YIELDED)
        given = found.items[0] if isinstance(found, Row) and found.items else None
        return Instance(External("generator"), place, {"item": given or _nothing(function, place)})
    if flow.how == "perhaps":
        why = NotKnown(f"one of several values of {function.name}()", place.path, place.line)
        return merged(flow.value, NONE, why) or why
    if flow.how == "stop":
        if _returns(function.node):
            return core.unknown(f"whether {function.name}() returns, or raises", place)
        return core.unknown(f"{function.name}() ends the script", place)
    return flow.value or NONE


def _returns(node: ast.AST) -> bool:
    """Whether a function gives anything back: it may do so before it raises."""
    return any(isinstance(each, ast.Return) for each in ast.walk(node))


def _is_optimizer(thing: Thing | None) -> bool:
    of = thing.of if isinstance(thing, Instance) else None
    return isinstance(of, Class) and _makes_optimizers(of)


def _makes_optimizers(of: Class) -> bool:
    """Whether the objects of a class of the project's update parameters."""
    if of.derives_from("Optimizer"):
        return True
    step = of.find(STEP)
    return isinstance(step, Function) and not of.library_base and updates(step.node)


def _nothing(function: Function, place: Place) -> NotKnown:
    return NotKnown(unknown_reasons.yielded_by(function.name), place.path, place.line)


def _enclosing(scope: Scope) -> Scope:
    """The scope that a function sees: never that of the class it is defined in."""
    while scope.is_class and scope.around is not None:
        scope = scope.around
    return scope


def _manages(decorator: Thing) -> bool:
    of = decorator.of if isinstance(decorator, Instance) else decorator
    return isinstance(of, External) and of.last in _NO_GRADIENT


@of_node
def _is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    inner: list[ast.AST] = list(node.body)
    while inner:
        each = inner.pop()
        if isinstance(each, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            inner += ast.iter_child_nodes(each)
    return False


def _bind_parameters(
    core: Core,
    function: Function,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    inner: Scope,
    place: Place,
) -> None:
    declared = function.node.args
    parameters = [each.arg for each in (*declared.posonlyargs, *declared.args)]
    given = list(arguments) if function.bound is None else [function.bound, *arguments]
    rest = named.get(REST)
    absent = core.unknown(f"an argument of {function.name}() at run time", place)
    for name in (*parameters, *(each.arg for each in declared.kwonlyargs)):
        default = function.defaults.get(name)
        inner.names[name] = default if default is not None and rest is None else rest or absent
    for name, value in zip(parameters, given, strict=False):
        inner.names[name] = value
    known = {*parameters, *(each.arg for each in declared.kwonlyargs)}
    for name, value in named.items():
        if name in known:
            inner.names[name] = value
    if declared.vararg is not None:
        inner.names[declared.vararg.arg] = row(given[len(parameters) :])
    if declared.kwarg is not None:
        others: dict[object, Thing] = {
            name: value for name, value in named.items() if name not in known
        }
        inner.names[declared.kwarg.arg] = Table(others)


def instantiate(
    core: Core, of: Class, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """What calling a class of the project gives."""
    instance = Instance(of, place, {}, tuple(arguments), dict(named))
    state = core.state
    if instance.is_model:
        _note_built(core, instance)
        state.building.append((instance, []))
    try:
        init = of.find("__init__")
        if isinstance(init, Function):
            bound = bound_to(init, instance)
            core.call(bound, arguments, named, place)
        elif of.derives_from("NamedTuple", "BaseModel", "Struct"):
            _fill(core, instance, of, arguments, named)
        elif (decorated := _decorated(of)) is not None:
            _fill(core, instance, decorated, arguments, named)
    finally:
        if instance.is_model:
            state.building.pop()
    if _makes_optimizers(of):
        state.happen("optimizer", place, instance)
    return instance


def _decorated(of: Class) -> Class | None:
    """The nearest class that is a dataclass: what one that extends it annotates is no field."""
    if of.is_dataclass:
        return of
    found = (_decorated(base) for base in of.bases if isinstance(base, Class))
    return next((each for each in found if each is not None), None)


def _note_built(core: Core, instance: Instance) -> None:
    building = core.state.building
    if building:
        repeated = tuple(count for _, counts in building for count in counts)
        core.state.built.setdefault(id(building[0][0]), []).append((instance, repeated))


def note_library_module(core: Core, instance: Instance) -> None:
    """Note a module of torch's own that a model is built of."""
    _note_built(core, instance)


def _fill(
    core: Core,
    instance: Instance,
    of: Class,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
) -> None:
    """The fields of a dataclass: what is given, else their defaults."""
    declared = of.all_declared
    rest = named.get(REST)
    for name in declared:
        default = of.find(name)
        if isinstance(default, Instance) and default.named:  # dataclasses.field(...)
            factory = default.named.get("default_factory")
            made = core.call(factory, [], {}, instance.place) if factory is not None else None
            default = default.argument(0, "default") or made  # pydantic's may be the first
        if rest is not None:
            default = rest
        if default is not None:
            instance.fields[name] = default
    instance.fields.update(zip(declared, arguments, strict=False))
    instance.fields.update({key: each for key, each in named.items() if key != REST})
    own = instance.of if isinstance(instance.of, Class) else of
    after = own.find("__post_init__")
    if isinstance(after, Function):
        core.call(bound_to(after, instance), [], {}, instance.place)


def is_library_model(instance: Instance) -> bool:
    """Whether a library made a model: ``AutoModelForCausalLM.from_pretrained(...)``, or torch's
    ``nn.Sequential``."""
    name = instance.of.name if isinstance(instance.of, External) else ""
    package, _, made = name.partition(".")
    if name in (FITTED, _SEQUENTIAL):
        return True
    is_one = "model" in made.lower() or _FOR_A_TASK.search(made) is not None
    return package in _MODELS and is_one and "parallel" not in made.lower()


def call_model(
    core: Core, model: Thing, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """A model is given a batch: what it makes of it is for others to know."""
    inner = unwrapped(model)
    if isinstance(inner, Instance) and not inner.is_model:
        called = attribute(core, inner, "__call__", place)
        if isinstance(called, Function):
            return core.call(called, arguments, named, place)
    given = (*arguments, *named.values())
    tensors = [each for each in given if isinstance(each, Tensor)]
    if given and _may_be_batch(given[0]):  # what stands behind it is not the batch
        tensors = [Tensor(None), *tensors]
    if not core.state.building:
        plain = len(tensors) == len(arguments) == 2 and not named
        behind = any(isinstance(each, NotKnown) and each.reason == GIVEN for each in given)
        core.state.happen("model", place, model, tensors, plain=plain, behind=behind)
    return core.unknown(GIVEN, place)


def _may_be_batch(first: Thing) -> bool:
    """Whether a model's first argument may be its batch, of which no dimension is known. What a
    model gave is none: a criterion is given it, with targets that are like its batch."""
    if isinstance(first, NotKnown):
        return first.reason != GIVEN
    return isinstance(first, Instance) and isinstance(first.of, External)
