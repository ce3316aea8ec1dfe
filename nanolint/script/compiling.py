"""``torch.compile`` in a script: what it returns is called as before, through derived graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.program import CompiledFunction
from nanolint.interpreter.torch import modules
from nanolint.interpreter.torch.modules import held_by_modules
from nanolint.interpreter.values import Class, Function, Instance, Method, Namespace, Native
from nanolint.run.coverage import SPLIT_GRAPH
from nanolint.script import settings
from nanolint.script.reducer import is_wrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from nanolint.inductor.inductor import Inductor
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tensors.tensor import Tensor

LEAST = (7, 0)  # compute capability that Triton has kernels for
# Keywords that change no allocation, or that are looked at elsewhere.
QUIET = ("fullgraph", "dynamic", "name", "recompile_limit", "isolate_recompiles")
INSIDE = "_orig_mod"  # of a compiled module, the one that it was made of
_OF = object()  # the class of a record, among its fields


def compiler(machine: Script, inductor: Inductor | None) -> Native:
    """``torch.compile``; without ``inductor`` the card is none that it compiles for."""

    def compile(model: Value = None, *_: Value, disable: Value = False, **options: Value) -> Value:
        if model is None:
            return Native(
                "compile", lambda each: compile(each, disable=disable, **options), plain=False
            )
        if disable is True or options.get("backend") == "eager":
            return model
        if inductor is None:
            _not_followed(machine)
            return model
        _doubt(machine, options)
        dynamic = options.get("dynamic")
        if isinstance(model, Instance) and modules.is_module(model):
            return _module(machine, model, inductor, dynamic)
        run = _function(machine, model, inductor, None, dynamic)
        return Native("compiled", run, plain=False)

    return Native("torch.compile", compile, plain=False)


def original(owner: Instance, name: str) -> Instance | None:
    """Returns the module that an attribute of a compiled one is bound to, if that is the one
    inside.

    ``OptimizedModule.__getattr__`` hands on what torch.nn.Module does not have: a method such as
    ``generate`` calls the module as it is (torch/_dynamo/eval_frame.py).
    """
    inner = owner.cls.names.get(INSIDE)
    if not isinstance(inner, Instance) or name in ("forward", "__call__"):
        return None
    written = next((each for each in inner.cls.mro if name in each.names), None)
    return inner if written is not None and written.module.path else None


def compile_in_place(
    machine: Script,
    inductor: Inductor | None,
    module: Instance,
    disable: Value = False,
    **options: Value,
) -> None:
    """``module.compile()``: the module itself is called through its graphs from now on."""
    if disable is True or options.get("backend") == "eager":
        return
    if inductor is None:
        _not_followed(machine)
        return
    _doubt(machine, options)
    plain = Instance(module.cls)
    plain.attributes, plain.buffers = module.attributes, module.buffers
    made = _module(machine, plain, inductor, options.get("dynamic"))
    names = {"__call__": made.cls.names["__call__"]}
    module.cls = Class(module.cls.name, (module.cls,), names, module.cls.module)


def _not_followed(machine: Script) -> None:
    """A doubt of a run that was taken for one that is not compiled, on a card that could."""
    if not machine.around.compiles and machine.around.capability >= LEAST:
        said = f"nanolint reads the code compiled here as if it was not compiled ({machine.place})"
        if said not in machine.doubts:
            machine.doubts.append(said)


def _doubt(machine: Script, options: dict[str, Value]) -> None:
    """What differs from the plain ``torch.compile`` in ways that are not known."""
    # A mode other than the first has CUDA graphs with pools of their own, or other kernels.
    settings.of_launch(machine)
    plain: dict[str, tuple[Value, ...]] = {
        "mode": (None, "default"),
        "backend": (None, "inductor"),
        "options": (None, {}),
    }
    for name, value in options.items():
        if value not in plain.get(name, (value,) if name in QUIET else (None,)):
            said = f"nanolint does not model torch.compile with {name}={value!r} ({machine.place})"
            if said not in machine.doubts:
                machine.doubts.append(said)


def _module(machine: Script, module: Instance, inductor: Inductor, dynamic: Value) -> Instance:
    """Another object with the same parts, which is called through its graphs.

    DDP's own forward is not compiled; what it calls is (torch/_dynamo/trace_rules.py).
    """
    if is_wrapper(module):
        inner = module.attributes["module"]
        module.attributes["module"] = _module(machine, inner, inductor, dynamic)
        return module
    for _, _, buffer in modules.buffers(module):
        buffer.is_view, buffer.base = False, None  # what it was a view of is gone
    run = _function(machine, module, inductor, module, dynamic)
    call = Native("__call__", lambda _self, *given, **named: run(*given, **named), plain=False)
    names = {"__call__": call, INSIDE: module}
    made = Instance(Class("OptimizedModule", (module.cls,), names, Namespace("torch", {})))
    made.attributes, made.buffers = module.attributes, module.buffers
    return made


def _function(
    machine: Script, called: Value, inductor: Inductor, module: Instance | None, dynamic: Value
) -> Callable[..., Value]:
    def call(*given: Value, **named: Value) -> Value:
        if machine.group.reduces and SPLIT_GRAPH not in machine.doubts:
            machine.doubts.append(SPLIT_GRAPH)
        machine.graph_depth = machine.depth + 1
        return _apart(machine.call(called, list(given), named))

    def state() -> Hashable:
        if module is None:
            return None
        weights = [(each.requires_grad, each.dtype) for each in modules.weights(module)]
        return (module.attributes.get("training") is True, *weights)

    function = called.function if isinstance(called, Method) else called

    def held(given: Sequence[Value]) -> Iterable[Tensor]:
        near = [] if not isinstance(function, Function) else function.module.names.values()
        return held_by_modules([called, getattr(called, "owner", None), *given, *near])

    name = module.cls.name if module is not None else getattr(function, "name", "a function")
    compiled = CompiledFunction(
        call,
        machine.card,
        inductor,
        host=machine.host,
        state=state,
        name=str(name),
        dynamic=dynamic if isinstance(dynamic, bool) else None,
        most=lambda: settings.most_graphs(machine),
        held=held,
    )
    return lambda *given, **named: _together(compiled(*given, **named))


def _apart(value: Value) -> Value:
    """What a function returns, with the fields of records (dataclasses, named tuples) in their
    place: those that hold tensors are results of its graph, too."""
    if isinstance(value, Instance) and value.cls.has("__dataclass__"):
        return {_OF: value.cls, **{name: _apart(each) for name, each in value.attributes.items()}}
    if type(value) in {list, tuple}:
        return type(value)(map(_apart, value))
    return {key: _apart(each) for key, each in value.items()} if type(value) is dict else value


def _together(value: Value) -> Value:
    """The records again, with the results in their fields."""
    if type(value) in {list, tuple}:
        return type(value)(map(_together, value))
    if type(value) is not dict:
        return value
    fields = {key: _together(each) for key, each in value.items()}
    cls = fields.pop(_OF, None)
    if not isinstance(cls, Class):
        return fields
    made = Instance(cls)
    made.attributes.update(fields)
    return made
