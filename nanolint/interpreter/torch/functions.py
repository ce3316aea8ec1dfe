"""``torch.autograd.Function`` and ``torch.utils.checkpoint``: backward passes of a model's own.

As torch/csrc/autograd/python_function.cpp: the forward pass runs without gradients, the context
lives as long as the node, and what it was told to save is let go when the node has run.

``torch.utils.checkpoint``: what a function saves is dropped; a backward pass runs it again.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from nanolint.interpreter.exceptions import CATCHABLE
from nanolint.interpreter.module_signature import PLAIN
from nanolint.interpreter.torch.modules import is_module
from nanolint.interpreter.values import (
    READ,
    Class,
    Instance,
    Namespace,
    Native,
    Property,
    Static,
    Unknown,
)
from nanolint.interpreter.watched import plain
from nanolint.tensors.autograd import Operation, record_all
from nanolint.tensors.checkpoint import Stop, checkpoint, checkpoint_sequential
from nanolint.tensors.device import NotTraced
from nanolint.tensors.ops.views import view_as
from nanolint.tensors.tensor import Tensor, autograd_follows, empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value
    from nanolint.tensors.layout import Shape

AUTOGRAD = "torch.autograd"
SAVED = "to_save"
ALLOWED = "_allowed_in_graph"
AUTOCAST = "_fwd_used_autocast"


def module(machine: Machine) -> Namespace:
    """``torch.autograd``."""
    function = function_class(machine)
    once = Native("once_differentiable", lambda each: each, plain=False)
    inner = Namespace(
        "torch.autograd.function", {"Function": function, "once_differentiable": once}
    )
    variable = Native("Variable", lambda *a, **k: _variable(machine, *a, **k), plain=False)
    return Namespace(
        AUTOGRAD,
        {"Function": function, "function": inner, "Variable": variable},
    )


def _variable(machine: Machine, data: Value, requires_grad: Value = False, **_: Value) -> Value:
    """``Variable(data)``: since PyTorch 0.4 ``data.detach()`` (python_legacy_variable.cpp)."""
    if isinstance(data, Unknown):
        return data
    if not isinstance(data, Tensor) or requires_grad:
        raise machine.unread("a torch.autograd.Variable that learns, or is of no tensor")
    return data.detach()


def function_class(machine: Machine) -> Class:
    """``torch.autograd.Function``."""
    apply = Native("Function.apply", lambda cls, *given: _apply(machine, cls, given), plain=False)
    return Class("Function", (), {"apply": Static(apply, of_class=True)}, Namespace(AUTOGRAD, {}))


def allow(function: Value) -> Value:
    """``torch._dynamo.allow_in_graph``: Dynamo looks no further, AOTAutograd traces through it."""
    if isinstance(function, Class):
        function.names[ALLOWED] = True
    return function


def _context_class() -> Class:
    """What ``forward`` and ``backward`` are given as ``ctx``."""

    def keep(context: Instance, *tensors: Value) -> None:
        context.attributes[SAVED] = tensors

    def ignored(_context: Instance, *_: Value) -> None:
        return None

    return Class(
        "FunctionCtx",
        (),
        {
            "save_for_backward": Native("save_for_backward", keep, plain=False),
            "saved_tensors": Property(
                Native("saved_tensors", lambda context: context.attributes[SAVED], plain=False)
            ),
            "mark_dirty": Native("mark_dirty", ignored, plain=False),
            "mark_non_differentiable": Native("mark_non_differentiable", _mark, plain=False),
            "set_materialize_grads": Native(
                "set_materialize_grads",
                lambda context, value: context.attributes.__setitem__("materializes", value),
            ),
        },
        Namespace(AUTOGRAD, {}),
    )


def _mark(context: Instance, *tensors: Tensor) -> None:
    context.attributes["constant"] = tensors


CONTEXT = _context_class()


def _apply(machine: Machine, cls: Class, given: tuple[Value, ...]) -> Value:
    """``cls.apply(*given)``."""
    if machine.card.tracer is not None:
        if not cls.has(ALLOWED):
            raise NotTraced("torch.autograd.Function")
        machine.card.tape.assume(
            f"nanolint derives the compiled form of {cls.name} from its operations"
        )
    for each in given:
        if isinstance(each, Unknown):
            raise each.unread()
    context = Instance(CONTEXT)
    context.attributes[SAVED] = ()
    tensors = [each for each in given if isinstance(each, Tensor)]
    learns = autograd_follows(machine.card, tensors)
    context.attributes["needs_input_grad"] = tuple(
        isinstance(each, Tensor) and each.requires_grad for each in given
    )
    with machine.card.no_grad(), machine.host.no_grad():
        if cls.has("setup_context"):
            found = machine.call(machine.attribute(cls, "forward"), list(given))
            setup = machine.attribute(cls, "setup_context")
            machine.call(setup, [context, given, found])
        else:
            found = machine.call(machine.attribute(cls, "forward"), [context, *given])
    if isinstance(found, Unknown):
        raise found.unread()
    if not learns:
        return found
    return _recorded(machine, cls, context, given, found)


def _recorded(
    machine: Machine, cls: Class, context: Instance, given: tuple[Value, ...], found: Value
) -> Value:
    """What was returned, with the node that made it."""
    listed = list(found) if isinstance(found, (tuple, list)) else [found]
    inputs = {id(each) for each in given if isinstance(each, Tensor)}
    listed = [view_as(each, each) if id(each) in inputs else each for each in listed]
    outs = [each for each in listed if isinstance(each, Tensor)]
    constant = {id(each) for each in context.attributes.pop("constant", ())}
    places = [at for at, each in enumerate(given) if isinstance(each, Tensor)]
    tensors = [given[at] for at in places]
    wanted = [each.shape if each.requires_grad else None for each in tensors]
    saved = context.attributes.pop(SAVED)
    is_tensor = [isinstance(each, Tensor) for each in saved]
    others = [None if isinstance(each, Tensor) else each for each in saved]
    kept = [each for each in saved if isinstance(each, Tensor)]
    shapes = [(each.device, each.shape, each.dtype, each.role) for each in outs]
    count = len(outs)
    several = isinstance(found, (tuple, list))
    materializes = context.attributes.pop("materializes", True)

    def backward(*values: Tensor | None) -> Sequence[Tensor | None]:
        gradients, unpacked = list(values[:count]), iter(values[count:])
        again = zip(is_tensor, others, strict=True)
        context.attributes[SAVED] = tuple(
            next(unpacked) if each else other for each, other in again
        )
        del unpacked, values
        if materializes:
            for at, (device, shape, dtype, role) in enumerate(shapes):
                if gradients[at] is None:
                    gradients[at] = empty(device, shape, dtype, role.gradient)
        try:
            made = machine.call(machine.attribute(cls, "backward"), [context, *gradients])
        except CATCHABLE as error:
            raise machine.unread(f"raises {type(error).__name__}: {error}") from None
        context.attributes.pop(SAVED)
        if isinstance(made, Unknown):
            raise made.unread()
        found = made if isinstance(made, (tuple, list)) else (made,)
        for at, sizes in zip(places, wanted, strict=True):
            if isinstance(found[at], Unknown):
                raise found[at].unread()
            why = _misfit(found[at], sizes)
            if why:
                told = f"Function {cls.name}Backward returned an invalid gradient at index {at}"
                raise machine.unread(f"raises RuntimeError: {told} - {why}")
        return [found[at] for at in places]

    recorded = record_all(outs, tensors, backward, *kept)
    node = recorded[0].node
    if isinstance(node, Operation):
        node.context = context
    for each in outs:
        if id(each) in constant:
            each.node = None
    return type(found)(listed) if several else listed[0]


def _misfit(gradient: Value, shape: Shape | None) -> str:
    """Why it is no gradient of a tensor of that shape, nor one sum away from it, as
    ``validate_outputs`` says it (torch/csrc/autograd/engine.cpp)."""
    if shape is None or not isinstance(gradient, Tensor):
        return ""
    missing = len(gradient.shape) - len(shape)
    ends = zip(shape, gradient.shape[missing:], strict=True) if missing >= 0 else ()
    if missing >= 0 and all(own in (1, each) for own, each in ends):
        return ""
    return f"got {[*gradient.shape]} but expected shape compatible with {[*shape]}"


def casting(machine: Machine) -> dict[str, Value]:
    """``custom_fwd`` and ``custom_bwd``: the backward pass casts as the forward pass did."""

    def forward(function: Value = None, **options: Value) -> Value:
        if function is None:
            return Native("custom_fwd", lambda each: forward(each, **options), plain=False)
        if options.get("cast_inputs") is not None:
            return machine.unknown("custom_fwd with cast_inputs")

        def run(context: Instance, *given: Value) -> Value:
            context.attributes[AUTOCAST] = machine.card.half
            return machine.call(function, [context, *given])

        return Native("forward", run, plain=False)

    def backward(function: Value = None, **_: Value) -> Value:
        if function is None:
            return Native("custom_bwd", backward, plain=False)

        def run(context: Instance, *given: Value) -> Value:
            half = context.attributes.get(AUTOCAST)
            with machine.card.autocast(half) if half else nullcontext():
                return machine.call(function, [context, *given])

        return Native("backward", run, plain=False)

    return {
        "custom_fwd": Native("custom_fwd", forward, plain=False),
        "custom_bwd": Native("custom_bwd", backward, plain=False),
    }


def checkpoints(machine: Machine) -> Namespace:
    """The module."""
    return Namespace(
        "torch.utils.checkpoint",
        {
            "checkpoint": Native(
                "checkpoint",
                lambda *given, **named: _checkpoint(machine, given, named),
                plain=False,
            ),
            "checkpoint_sequential": Native(
                "checkpoint_sequential",
                lambda *given, **named: _in_segments(machine, given, named),
                plain=False,
            ),
        },
    )


@contextmanager
def may_stop(machine: Machine) -> Iterator[None]:
    """A call that ends as soon as all is made again: the program then stands at the call."""
    module, line = machine.module, machine.line
    try:
        yield
    except Stop:
        machine.module, machine.line = module, line
        raise


def _checkpoint(machine: Machine, given: tuple[Value, ...], named: dict[str, Value]) -> Value:
    """A function whose saved tensors are dropped, and made again in the backward pass."""
    function, *arguments = given
    for each in (function, *arguments, *named.values()):
        if isinstance(each, Unknown):
            raise each.unread()
    if named.get("use_reentrant", True) is None:
        del named["use_reentrant"]

    def call(*given: Value, **named: Value) -> Value:
        with may_stop(machine):
            return machine.call(function, list(given), named)

    def read() -> Value:
        return checkpoint(call, *arguments, device=machine.card, **named)

    if not is_module(function) or not machine.card.grad_enabled:
        return read()
    values = [(name, plain(each)) for name, each in named.items()]
    options = tuple([(name, each) for name, each in values if type(each) in PLAIN])
    out = READ
    if len(options) == len(named):
        out = machine.copied(function, arguments, {}, read, checkpointed=options)
    return read() if out is READ else out


def _in_segments(machine: Machine, given: tuple[Value, ...], named: dict[str, Value]) -> Value:
    functions, segments, x = given
    if named.get("use_reentrant", True) is None:
        del named["use_reentrant"]

    def called(function: Value) -> Callable[[Value], Value]:
        def call(x: Value) -> Value:
            with may_stop(machine):
                return machine.call(function, [x])

        return call

    listed = [called(each) for each in machine.iterate(functions)]
    return checkpoint_sequential(listed, segments, x, device=machine.card, **named)
