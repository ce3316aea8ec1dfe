"""Attributes, methods, operators and hooks of tensors, types and devices.

An operator is one of a tensor's methods with two underscores. A hook is a function that a script
has called when the gradient of a parameter comes: ``call_tensor_pre_hooks`` of
torch/csrc/autograd/engine.cpp, functions/accumulate_grad.cpp.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanolint.interpreter.certain import certain
from nanolint.interpreter.operators import BINARY, COMPARE, UNARY
from nanolint.interpreter.torch import signatures
from nanolint.interpreter.torch.calling import card_of, device_of, operation
from nanolint.interpreter.values import (
    CONTENTS,
    PARAMETER,
    TENSOR,
    Event,
    Figure,
    Namespace,
    Native,
    TensorClass,
    Unknown,
)
from nanolint.interpreter.watched import Index, Real
from nanolint.tensors import held, refusing
from nanolint.tensors.autograd import Leaf, run_backward
from nanolint.tensors.device import Device
from nanolint.tensors.dtypes import DTYPES, FLOAT32, FLOATING, Dtype
from nanolint.tensors.names import ATTRIBUTES, METHODS
from nanolint.tensors.ops.conversion import to
from nanolint.tensors.ops.creation import zeros_like
from nanolint.tensors.ops.parts import select, unbind
from nanolint.tensors.parameter import LeafTensor, Parameter
from nanolint.tensors.tensor import Tensor
from nanolint.tensors.tracing import tracer_at
from nanolint.tensors.unknown import NotModelled, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def before(machine: Machine, x: Tensor, hook: Value) -> Value:
    """``x.register_hook``: called with the gradient, it may return another one."""
    if not isinstance(x.node, Leaf):
        raise machine.unread("nanolint does not model a hook of a tensor that is not a parameter")

    def run(gradient: Tensor) -> Tensor | None:
        made = machine.call(hook, [gradient])
        if isinstance(made, Unknown):
            raise made.unread()
        return made if isinstance(made, Tensor) else None

    return _handle(x.node.before, run)


def after(machine: Machine, x: Tensor, hook: Value) -> Value:
    """``x.register_post_accumulate_grad_hook``: called with the parameter."""
    if not isinstance(x.node, Leaf):
        raise machine.unread(
            "nanolint does not model a hook after the gradient of a tensor that is not a parameter"
        )
    return _handle(x.node.after, lambda: machine.call(hook, [x]))


def _handle(hooks: list[Any], hook: Callable[..., Any]) -> Namespace:
    hooks.append(hook)

    def remove() -> None:
        if hook in hooks:
            hooks.remove(hook)

    return Namespace("hook", {"remove": Native("remove", remove, plain=False)})


TO = METHODS["to"]
FILLS, NUMBERS = "fill_", "new_tensor"
VALUES = ("item", "tolist", "numpy")  # what only a run could tell


def attribute(machine: Machine, x: Tensor, name: str) -> Value:
    """``x.name``. Raises AttributeError if there is none that is known."""
    extra = machine.tensor_attributes.get(x) if name in machine.shadowed else None
    if extra is not None and name in extra:
        return extra[name]
    found = ATTRIBUTES.get(name)
    if found is not None:
        return operation(machine, f"Tensor.{name}", found, (x,), {})
    method = METHODS.get(name)
    if name in OWN:
        own = OWN[name]
        return Native(f"Tensor.{name}", lambda *given, **named: own(machine, x, *given, **named))
    if method is not None:
        # A method that is looked up holds its tensor until it has returned.
        return Native(
            f"Tensor.{name}",
            lambda *given, **named: operation(
                machine, f"Tensor.{name}", method, (x, *_seen(name, given)), named
            ),
            plain=False,
        )
    if name in VALUES:
        return Native(f"Tensor.{name}", lambda *_: _contents(machine, name, x))
    known = _known(machine, x)
    if name in known:
        return known[name]()
    extra = machine.tensor_attributes.get(x, {})
    if name in extra:
        return extra[name]
    if signatures.tensors_have_no(name):
        raise certain(AttributeError(f"'Tensor' object has no attribute '{name}'"))
    raise AttributeError(f"Tensor.{name} is not known")


def _seen(name: str, given: tuple[Value, ...]) -> tuple[Value, ...]:
    """What a method is given; the numbers that a tensor is filled with need not be known."""
    if name == NUMBERS:
        return tuple(_any_number(each) for each in given)
    if name != FILLS:
        return given
    return tuple(0 if isinstance(each, Unknown) else each for each in given)


def _any_number(value: Value) -> Value:
    if isinstance(value, list):
        return [_any_number(each) for each in value]
    return 0 if isinstance(value, (Real, Index, Figure)) else value


def _contents(machine: Machine, name: str, x: Tensor) -> Value:
    machine.breaks(f"Tensor.{name}", x)
    if name == "item" and x.numel != 1:
        raise Refused(f"a Tensor with {x.numel} elements cannot be converted to Scalar")
    if name == "numpy" and x.device is machine.card:
        raise Refused(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
            "to host memory first.",
            TypeError,
        )
    if name == "numpy":
        refusing.without_gradient(x)
    if name == "item":
        kind = Real if x.dtype.kind == FLOATING else Figure
        return kind(CONTENTS, machine.place)
    return machine.unknown(CONTENTS)


def _known(machine: Machine, x: Tensor) -> dict[str, Callable[[], Value]]:
    return {
        "is_cuda": lambda: x.device is machine.card,
        "is_leaf": lambda: x.node is None or isinstance(x.node, Leaf),
        "is_meta": lambda: False,
        "is_sparse": lambda: False,
        "is_nested": lambda: False,
        "grad_fn": lambda: x.node,
        "grad": lambda: _gradient(machine, x),
        "__class__": lambda: type_of(machine, x),
    }


def _gradient(machine: Machine, x: Tensor) -> Value:
    holder = holder_of(x)
    if holder is not None:
        return holder.gradient
    return machine.tensor_attributes.get(x, {}).get("grad")


def holder_of(x: Tensor) -> Parameter | Leaf | None:
    """Where ``x.grad`` is: a parameter has it while it is frozen, too; None where autograd makes
    none."""
    if isinstance(x, Parameter):
        return x
    return x.node if isinstance(x.node, Leaf) else None


def _requires(machine: Machine, x: Tensor, mode: Value = True) -> Tensor:
    learn(machine, x, mode)
    return x


def learn(machine: Machine, x: Tensor, learns: Value) -> None:
    """``x.requires_grad = learns``: freeze a parameter, let it learn again, or let a tensor of the
    card learn, which gathers a gradient as a parameter does."""
    if isinstance(learns, Unknown):
        raise learns.unread()
    if isinstance(x, Parameter):
        x.require_gradient(bool(learns))
    elif learns and not x.requires_grad:
        if x.device is not machine.card or machine.card.tracer is not None:
            machine.learns_outside = True
            raise machine.unread(
                "nanolint does not model the gradient of a tensor that is not a parameter"
            )
        x.node = Leaf(x)
        x.node.holds = x.detach()
    elif not learns:
        x.node = None


def _to(machine: Machine, x: Tensor, *targets: Value, **options: Value) -> Value:
    given = tuple(
        device_of(machine, each)
        if isinstance(each, (str, int)) and not isinstance(each, bool)
        else each
        for each in targets
    )
    return operation(machine, "Tensor.to", TO, given_first(x, given), options)


def given_first(x: Tensor, rest: tuple[Value, ...]) -> tuple[Value, ...]:
    return (x, *(each for each in rest if not isinstance(each, bool)))


def _cuda(machine: Machine, x: Tensor, device: Value = None, *_: Value, **__: Value) -> Tensor:
    return _kept(x, to(x, card_of(machine, device)))


def _cpu(machine: Machine, x: Tensor, *_: Value, **__: Value) -> Tensor:
    return _kept(x, to(x, machine.host))


def _kept(x: Tensor, moved: Tensor) -> Tensor:
    """It holds the same numbers."""
    moved.held = held.of(x)
    return moved


def _same(_machine: Machine, x: Tensor, *_: Value, **__: Value) -> Tensor:
    return x


def _backward(
    machine: Machine,
    x: Tensor,
    gradient: Tensor | None = None,
    retain_graph: Value = None,
    create_graph: Value = False,
    inputs: Value = None,
) -> None:
    for each in (retain_graph, create_graph):
        if isinstance(each, Unknown):
            raise each.unread()
    if create_graph or inputs is not None:
        raise machine.unread("a backward pass with create_graph or inputs")
    machine.listener.goes_back(x)
    machine.happens(Event.BACKWARD)
    if gradient is None and x.numel != 1:
        raise Refused("grad can be implicitly created only for scalar outputs", of_graph=True)
    given = zeros_like(x) if gradient is None else gradient
    with machine.card.backward_pass():  # also where the loss is on the host
        if x.node is None and machine.learns_outside:
            raise machine.unread("what learns outside of the card")
        try:
            run_backward(x, given, retain=bool(retain_graph))
        except NotModelled as error:
            raise machine.unread(str(error)) from error
    machine.listener.went_back()
    machine.happens(Event.AFTER_BACKWARD)


def _retain(machine: Machine, x: Tensor) -> None:
    """``retain_grad``: a leaf's is kept anyway."""
    if x.node is not None and not isinstance(x.node, Leaf):
        raise machine.unread("a gradient that retain_grad keeps")


def _address(machine: Machine, x: Tensor) -> Value:
    """Where a tensor starts: for who asks whether two are one. Allocations start at 512 bytes."""
    if x.storage is None or x.is_view:
        return machine.unknown("where a part of a tensor starts")
    return id(x.storage) * 512


def equal(machine: Machine, x: Tensor, other: Tensor) -> Value:
    """``torch.equal`` (aten/src/ATen/native/cuda/Equal.cpp): whether all elements are the same."""
    if x.shape != other.shape:
        return False
    if 0 in x.shape or x is other:
        return True
    same = METHODS["eq"](x, other)
    found = METHODS["all"](same)
    del same, found
    machine.breaks("torch.equal", x)
    return machine.unknown(CONTENTS)


OWN: dict[str, Callable[..., Any]] = {
    "equal": equal,
    "requires_grad_": _requires,
    "to": _to,
    "cuda": _cuda,
    "cpu": _cpu,
    "pin_memory": _same,
    "detach_": _same,
    "retain_grad": _retain,
    "backward": _backward,
    "register_hook": before,
    "register_post_accumulate_grad_hook": after,
    "get_device": lambda machine, x: 0 if x.device is machine.card else -1,
    "is_complex": lambda _machine, x: x.dtype.kind == 3,
    "data_ptr": _address,
}


def set_attribute(machine: Machine, x: Tensor, name: str, value: Value) -> None:
    """``x.name = value``."""
    if name == "requires_grad":
        learn(machine, x, value)
        return
    if name == "data":
        x.shape, x.strides, x.dtype = value.shape, value.strides, value.dtype
        if x.device is value.device:
            x.storage = value.storage
        if isinstance(x.node, Leaf):
            x.node.outputs, x.node.strides = ((x.shape, x.dtype, x.role),), x.strides
            x.node.holds = None if x.node.holds is None else x.detach()
        return
    holder = holder_of(x) if name == "grad" else None
    if holder is not None:
        machine.listener.puts(holder, value)
        holder.gradient = value
        return
    if name in METHODS or name in OWN:
        machine.shadowed.add(name)
    machine.tensor_attributes.setdefault(x, {})[name] = value


def rows(machine: Machine, x: Tensor) -> Sequence[Tensor]:
    """Returns the values of a loop over ``x``: while a graph is traced, one index after the other
    (torch/_dynamo/variables/tensor.py, ``unpack_var_sequence``)."""
    machine.bounded(x.shape[0])
    if tracer_at(x.device) is not None:
        return [select(x, 0, index) for index in range(x.shape[0])]
    return unbind(x, 0)


def of_setting(machine: Machine, owner: Value, name: str) -> Value:
    """Returns an attribute of a type or a device; None if it is neither."""
    if isinstance(owner, Dtype):
        known = {
            "itemsize": owner.itemsize,
            "is_floating_point": owner.kind == FLOAT32.kind,
            "is_complex": owner.kind > FLOAT32.kind,
        }
        if name not in known:
            raise AttributeError(f"dtype.{name} is not known")
        return known[name]
    if isinstance(owner, Device):
        if name == "type":
            return "cuda" if owner is machine.card else "cpu"
        if name == "index":
            return 0 if owner is machine.card else None
        raise AttributeError(f"device.{name} is not known")
    if isinstance(owner, tuple) and name == "numel":
        return Native("Size.numel", lambda: _product(owner))
    if isinstance(owner, tuple) and hasattr(owner, "_fields") and name in owner._fields:
        return getattr(owner, name)
    return None


def _product(sizes: tuple[int, ...]) -> int:
    found = 1
    for each in sizes:
        found *= each
    return found


def is_a(machine: Machine, x: Tensor, kind: Value) -> bool:
    """``isinstance(x, kind)``; of a type of one dtype are the host's tensors alone."""
    if isinstance(kind, TensorClass) and kind.dtype is not None:
        return x.device is machine.host and x.dtype is kind.dtype
    return kind in (TENSOR, object) or (kind is PARAMETER and type_of(machine, x) is PARAMETER)


def type_of(_machine: Machine, x: Tensor) -> Value:
    """``type(x)``."""
    is_one = isinstance(x, Parameter) and not isinstance(x, LeafTensor)
    return PARAMETER if is_one else TENSOR


def types() -> dict[str, Dtype]:
    """``torch.float32`` and its like, with their short names."""
    short = {
        "float": "float32",
        "double": "float64",
        "half": "float16",
        "long": "int64",
        "int": "int32",
        "short": "int16",
        "cfloat": "complex64",
    }
    return DTYPES | {name: DTYPES[full] for name, full in short.items()}


def binary(machine: Machine, op: ast.operator, left: Value, right: Value) -> Value:
    """``left op right``, of which at least one is a tensor."""
    name = BINARY[type(op)][0]
    if isinstance(left, Tensor):
        return _apply(machine, f"__{name}__", left, right)
    return _apply(machine, f"__r{name}__", right, left)


def in_place(machine: Machine, op: ast.operator, left: Tensor, right: Value) -> Value:
    """Returns the value that ``left op= right`` binds: ``left`` itself, if there is such an
    operation."""
    name = f"__i{BINARY[type(op)][0]}__"
    if name in METHODS:
        return _apply(machine, name, left, right)
    raise machine.unread(f"Tensor.{name} is not known")


def unary(machine: Machine, op: ast.unaryop, operand: Tensor) -> Value:
    """``op operand``."""
    if isinstance(op, ast.Not):
        return not machine.truth(operand)
    if isinstance(op, ast.UAdd):
        return operand
    return _apply(machine, f"__{UNARY[type(op)][0]}__", operand)


def compare(machine: Machine, op: ast.cmpop, left: Value, right: Value) -> Value:
    """``left == right`` and its like: a tensor of booleans."""
    name = COMPARE[type(op)][0]
    if right is None or left is None or isinstance(left if left is not None else right, str):
        return name == "ne"
    # A whole number that nobody knows makes a tensor as large as any other would.
    left, right = (0 if isinstance(each, Index) else each for each in (left, right))
    if isinstance(left, Tensor):
        return _apply(machine, f"__{name}__", left, right)
    return _apply(machine, f"__{name}__", right, left)


def _apply(machine: Machine, name: str, tensor: Tensor, *others: Value) -> Value:
    for each in others:
        if isinstance(each, Unknown):
            raise each.unread()
    function = METHODS.get(name)
    if function is None:
        raise machine.unread(f"Tensor.{name} is not known")
    return operation(machine, f"Tensor.{name}", function, (tensor, *others), {})


def item(machine: Machine, x: Tensor, index: Value) -> Value:
    """``x[index]``."""
    return _apply(machine, "__getitem__", x, index)


def set_item(machine: Machine, x: Tensor, index: Value, value: Value) -> None:
    """``x[index] = value``."""
    _apply(machine, "__setitem__", x, index, 0.0 if isinstance(value, (Figure, Real)) else value)
