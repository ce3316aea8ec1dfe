"""Arithmetic (aten/src/ATen/native/BinaryOps.cpp, PointwiseOps.cpp, TensorIterator.cpp).

Backward formulas are those of tools/autograd/derivatives.yaml, the gradient of the argument that
comes first in the alphabet first. C++ keeps what a formula makes to its end; so do the names here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import BOOL, COMPLEX, DEFAULTS, FLOAT32, FLOATING, kind_of, promote
from nanolint.tensors.layout import broadcast, result_strides
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.views import cast
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.tracing import traced, tracer_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role

Operand: TypeAlias = "Tensor | Number"


def result_type(*operands: Operand) -> Dtype:
    """The type of an elementwise result: numbers and tensors without dimensions give way.

    aten/src/ATen/native/TypeProperties.cpp, ``result_type``.
    """
    found: list[Dtype | None] = [None, None, None]
    floats = FLOAT32
    for each in operands:
        if isinstance(each, Tensor):
            level, dtype = (0, each.dtype) if each.shape else (1, each.dtype)
            floats = each.device.floats
        else:
            level, dtype = 2, DEFAULTS[kind_of(each)]
        before = found[level]
        found[level] = dtype if before is None else promote(before, dtype)
    if found[2] is FLOAT32:
        found[2] = floats
    best: Dtype | None = None
    for dtype_at_level in found:
        if dtype_at_level is not None and (best is None or dtype_at_level.kind > best.kind):
            best = dtype_at_level
    assert best is not None
    return best


def elementwise(
    dtype: Dtype,
    op: Op,
    *operands: Operand,
    role: Role | None = None,
    how: str = "",
    backwards: bool = False,
) -> Tensor:
    """The result of an operation on elements, in the layout of its operands: the first of them
    comes first, or the last if it looks at them ``backwards``.

    ``how`` tells it from others of one ``op``: in a compiled graph those that are alike are one.
    """
    tensors = [each for each in operands if isinstance(each, Tensor)]
    first = tensors[0]
    if len(tensors) == 1:
        shape = first.shape
        strides = result_strides(shape, (shape, first.strides))
    else:
        shape = broadcast(*(each.shape for each in tensors))
        layouts = [(each.shape, each.strides) for each in tensors]
        strides = result_strides(shape, *(reversed(layouts) if backwards else layouts))
    if role is None:
        widest = next((each for each in tensors if each.shape == shape), first)
        role = widest.role.made(op.label, widest.role.dims if widest.shape == shape else "")
    device = _device(tensors)
    tracer = tracer_at(device)
    if tracer is not None:
        return tracer.elementwise(op, operands, shape, strides, dtype, role, how)
    return empty(device, shape, dtype, role, strides)


def _device(tensors: Sequence[Tensor]) -> Device:
    """A tensor of one element may lie on the host: the others decide."""
    for each in tensors:
        if each.shape:
            return each.device
    return tensors[0].device


def add(x: Operand, other: Operand, *, alpha: Number = 1, role: Role | None = None) -> Tensor:
    """``x + alpha * other``: both gradients are the gradient itself, except for ``alpha``."""
    out = elementwise(result_type(x, other), ops.ADD, x, other, role=role, how=f"{alpha}")
    if alpha == 1:
        return record(out, (_tensor(x), _tensor(other)), lambda g: [g, g])
    needs_x, needs_y = _needs(x), _needs(other)

    def backward(g: Tensor) -> list[Tensor | None]:
        of_y = mul(g, alpha) if needs_y else None
        return [g if needs_x else None, of_y]

    return record(out, (_tensor(x), _tensor(other)), backward)


def sub(x: Operand, other: Operand, *, alpha: Number = 1, role: Role | None = None) -> Tensor:
    """``x - alpha * other``."""
    out = elementwise(result_type(x, other), ops.SUB, x, other, role=role, how=f"{alpha}")
    needs_x, needs_y = _needs(x), _needs(other)

    def backward(g: Tensor) -> list[Tensor | None]:
        of_y = None
        if needs_y:
            negative = neg(g)
            of_y = negative if alpha == 1 else mul(negative, alpha)
            del negative
        return [g if needs_x else None, of_y]

    return record(out, (_tensor(x), _tensor(other)), backward)


def rsub(x: Operand, other: Operand) -> Tensor:
    """``other - x``."""
    return sub(other, x)


def mul(x: Operand, other: Operand, *, role: Role | None = None) -> Tensor:
    """``x * other``: each factor is saved if the other one learns."""
    out = elementwise(result_type(x, other), ops.MUL, x, other, role=role)
    needs_x, needs_y = _needs(x), _needs(other)
    scalar_x = None if isinstance(x, Tensor) else x
    scalar_y = None if isinstance(other, Tensor) else other

    def backward(g: Tensor, x: Tensor | None, y: Tensor | None) -> list[Tensor | None]:
        of_y = _times(g, scalar_x if x is None else x) if needs_y else None  # type: ignore[arg-type]
        of_x = _times(g, scalar_y if y is None else y) if needs_x else None  # type: ignore[arg-type]
        return [of_x, of_y]

    saved = (_tensor(x) if needs_y else None, _tensor(other) if needs_x else None)
    return record(out, (_tensor(x), _tensor(other)), backward, *saved)


def _times(g: Tensor, factor: Operand) -> Tensor:
    """The gradient times a factor, whose conjugate is a copy where it is complex."""
    if isinstance(factor, Tensor) and factor.dtype.kind == COMPLEX:
        conjugate = elementwise(factor.dtype, ops.CONJ, factor)
        found = mul(g, conjugate)
        del conjugate
        return found
    return mul(g, factor)


def div(
    x: Operand, other: Operand, *, rounding_mode: str | None = None, role: Role | None = None
) -> Tensor:
    """``x / other``; integers become the default type, except if the quotient is rounded."""
    dtype = result_type(x, other)
    if dtype.kind < FLOATING and rounding_mode is None:
        dtype = next(each for each in (x, other) if isinstance(each, Tensor)).device.floats
    out = elementwise(dtype, ops.DIV, x, other, role=role, how=rounding_mode or "")
    if rounding_mode is not None:
        needs = _needs(x), _needs(other)
        return record(
            out,
            (_tensor(x), _tensor(other)),
            lambda g: [_zeros(g) if each else None for each in needs],
        )
    needs_x, needs_y = _needs(x), _needs(other)
    scalar_x = None if isinstance(x, Tensor) else x
    scalar_y = None if isinstance(other, Tensor) else other

    def backward(g: Tensor, x: Tensor | None, y: Tensor | None) -> list[Tensor | None]:
        above: Operand = x if x is not None else scalar_x  # type: ignore[assignment]
        below: Operand = y if y is not None else scalar_y  # type: ignore[assignment]
        of_y = None
        if needs_y:
            once = div(above, below)
            twice = div(once, below)
            negative = neg(g)
            of_y = mul(negative, twice)
            del once, twice, negative
        return [div(g, below) if needs_x else None, of_y]

    saved = (_tensor(x) if needs_y else None, _tensor(other) if needs_x or needs_y else None)
    return record(out, (_tensor(x), _tensor(other)), backward, *saved)


def floor_divide(x: Operand, other: Operand) -> Tensor:
    """``x // other``: nothing flows back."""
    return elementwise(result_type(x, other), ops.DIV, x, other, how="floor")


def remainder(x: Operand, other: Operand, op: Op = ops.REMAINDER) -> Tensor:
    """``x % other``, which has the sign of ``other``; ``torch.fmod``, which has that of ``x``."""
    rounding_mode = "floor" if op is ops.REMAINDER else "trunc"
    out = elementwise(result_type(x, other), op, x, other)
    needs_x, needs_y = _needs(x), _needs(other)

    def backward(g: Tensor, x: Tensor | None, y: Tensor | None) -> list[Tensor | None]:
        of_y = None
        if needs_y and x is not None and y is not None:
            negative = neg(g)
            quotient = div(x, y, rounding_mode=rounding_mode)
            of_y = mul(negative, quotient)
            del negative, quotient
        return [g if needs_x else None, of_y]

    saved = (_tensor(x), _tensor(other)) if needs_y else (None, None)
    return record(out, (_tensor(x), _tensor(other)), backward, *saved)


def neg(x: Tensor) -> Tensor:
    """``-x``."""
    return record(elementwise(x.dtype, ops.NEG, x), (x,), lambda g: [neg(g)])


def extremum(x: Tensor, other: Tensor, op: Op) -> Tensor:
    """``torch.maximum`` and ``torch.minimum``: equal elements share the gradient."""
    out = elementwise(result_type(x, other), op, x, other)
    needs = x.requires_grad, other.requires_grad

    def backward(g: Tensor, x: Tensor, y: Tensor) -> list[Tensor | None]:
        return [None if not each else _shared(g, x, y) for each in reversed(needs)][::-1]

    return record(out, (x, other), backward, x, other)


def _shared(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    half = div(g, 2)
    equal = elementwise(BOOL, ops.EQ, x, y)
    found = elementwise(g.dtype, ops.WHERE, equal, half, g, role=g.role)
    less = elementwise(BOOL, ops.LT, x, y)
    del equal, half, less
    return found


@traced
def _interpolated(x: Tensor, end: Tensor, weight: Operand) -> Tensor:
    return elementwise(result_type(x, end), ops.LERP, x, end, weight)


def lerp(x: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """``x + weight * (end - x)``."""
    out = _interpolated(x, end, weight)
    needs = [_needs(each) for each in (x, end, weight)]
    scalar = None if isinstance(weight, Tensor) else weight

    def backward(
        g: Tensor, x: Tensor | None, end: Tensor | None, weight: Tensor | None
    ) -> list[Tensor | None]:
        share: Operand = scalar if weight is None else weight  # type: ignore[assignment]
        of_end = mul(g, share) if needs[1] else None
        of_x = of_weight = None
        if needs[0]:
            rest = 0.5 if weight is None else sub(1, weight)
            of_x = mul(g, rest)
            del rest
        if needs[2] and x is not None and end is not None:
            difference = sub(end, x)
            of_weight = mul(g, difference)
            del difference
        return [of_x, of_end, of_weight]

    saved = (x, end) if needs[2] else (None, None)
    inputs = (x, end, _tensor(weight))
    return record(out, inputs, backward, *saved, _tensor(weight) if any(needs[:2]) else None)


def addcmul(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """``x + value * tensor1 * tensor2``."""
    if x.device.half is not None:
        widest = result_type(x, tensor1, tensor2)
        if any(each.dtype is not widest for each in (x, tensor1, tensor2)):
            third, second = cast(tensor2, widest), cast(tensor1, widest)
            return addcmul(cast(x, widest), second, third, value=value)
    how = "" if value == 1 else f"{value}"
    out = elementwise(result_type(x, tensor1, tensor2), ops.ADDCMUL, x, tensor1, tensor2, how=how)
    needs = [each.requires_grad for each in (x, tensor1, tensor2)]

    def scaled(g: Tensor, factor: Tensor) -> Tensor:
        product = mul(factor, value)
        return mul(g, product)

    def backward(g: Tensor, one: Tensor | None, two: Tensor | None) -> list[Tensor | None]:
        of_one = scaled(g, two) if needs[1] and two is not None else None
        of_two = scaled(g, one) if needs[2] and one is not None else None
        return [g if needs[0] else None, of_one, of_two]

    saved = (tensor1 if needs[2] else None, tensor2 if needs[1] else None)
    return record(out, (x, tensor1, tensor2), backward, *saved)


def _zeros(g: Tensor) -> Tensor:
    return elementwise(g.dtype, ops.ZEROS_LIKE, g, role=g.role)


def _needs(x: Operand) -> bool:
    return isinstance(x, Tensor) and x.node is not None


def _tensor(x: Operand) -> Tensor | None:
    return x if isinstance(x, Tensor) else None
