"""Comparisons, logic and choices (aten/src/ATen/native/BinaryOps.cpp, TensorCompare.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors import refusing
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import BOOL
from nanolint.tensors.layout import broadcast
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.creation import create, filled
from nanolint.tensors.ops.pointwise import elementwise, result_type
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.tracing import traced, traced_after, tracer_at
from nanolint.tensors.unknown import DataDependent, NotModelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.ops.pointwise import Operand
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role


def compare(x: Operand, other: Operand, op: Op = ops.EQ) -> Tensor:
    """``x == other``, ``x < other`` and their like, ``torch.logical_and``: no gradient."""
    return elementwise(BOOL, op, x, other)


def bitwise(x: Operand, other: Operand, op: Op) -> Tensor:
    """``x & other``, ``x | other``, ``x ^ other``."""
    return elementwise(result_type(x, other), op, x, other)


def bitwise_not(x: Tensor) -> Tensor:
    """``~x``."""
    return elementwise(x.dtype, ops.BITWISE_NOT, x)


def check(x: Tensor, op: Op) -> Tensor:
    """``torch.isnan``, ``torch.isneginf``, ``torch.logical_not``."""
    return elementwise(BOOL, op, x)


def isinf(x: Tensor) -> Tensor:
    """``torch.isinf``: the absolute value is compared."""
    absolute = elementwise(x.dtype, ops.ABS, x)
    out = elementwise(BOOL, ops.EQ, absolute)
    del absolute
    return out


def isfinite(x: Tensor) -> Tensor:
    """``torch.isfinite``: the absolute value, and the value itself, are compared."""
    absolute = elementwise(x.dtype, ops.ABS, x)
    finite = elementwise(BOOL, ops.NE, absolute)
    equal = elementwise(BOOL, ops.EQ, x)
    out = elementwise(BOOL, ops.LOGICAL_AND, equal, finite)
    del equal, absolute, finite
    return out


@traced_after(refusing.masked_by)
def masked_fill(x: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """``x.masked_fill(mask, value)``: a copy in order, filled in place."""
    out = empty(x.device, broadcast(x.shape, mask.shape), x.dtype, x.role.made("masked"))
    learns = isinstance(value, Tensor) and value.requires_grad

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        of_value = None
        if learns:
            zeros = masked_fill(g, mask, 0)
            of_value = filled(g, ())
            del zeros
        return [masked_fill(g, mask, 0), of_value]

    inputs = x, value if isinstance(value, Tensor) else None
    return record(out, inputs, backward, mask)


@traced_after(refusing.chosen_by)
def where(condition: Tensor, x: Operand | None = None, other: Operand | None = None) -> Tensor:
    """``torch.where``. Raises DataDependent for a condition alone: data decides the size of its
    result."""
    if x is None or other is None:
        raise DataDependent("where")
    dtype = result_type(x, other)
    first, second = _operand(condition, x, dtype), _operand(condition, other, dtype)
    out = elementwise(dtype, ops.WHERE, condition, first, second)
    needs_x, needs_y = _needs(x), _needs(other)
    del first, second

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        of_y = masked(g, mask) if needs_y else None
        return [masked(g, mask) if needs_x else None, of_y]

    inputs = [each if isinstance(each, Tensor) else None for each in (x, other)]
    return record(out, inputs, backward, condition)


def chosen(x: Tensor, condition: Tensor, other: Operand) -> Tensor:
    """``Tensor.where``, whose condition comes second."""
    return where(condition, x, other)


def _operand(condition: Tensor, x: Operand, dtype: Dtype) -> Tensor:
    """A number as a tensor of one element; a tensor in the type of the result."""
    if not isinstance(x, Tensor):
        return create(condition.device, (), dtype, condition.role.made("number"), ops.FULL)
    return x if x.dtype is dtype else elementwise(dtype, ops.WHERE, x)


def masked(g: Tensor, mask: Tensor, role: Role | None = None) -> Tensor:
    """Returns the gradient in the places of the mask; the zero elsewhere is a tensor of its own."""
    zero = filled(g, ())
    out = elementwise(g.dtype, ops.WHERE, mask, g, role=role or g.role)
    del zero
    return out


@traced
def clamp(x: Tensor, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """``x.clamp``, with a lower, an upper, or both bounds."""
    return clamped(x, sides_of(min, max))


def clamp_min(x: Tensor, min: Operand) -> Tensor:
    """``x.clamp_min``."""
    return clamped(x, sides_of(min, None))


def clamp_max(x: Tensor, max: Operand) -> Tensor:
    """``x.clamp_max``."""
    return clamped(x, sides_of(None, max))


def sides_of(least: Operand | None, most: Operand | None) -> list[tuple[Operand, Op]]:
    """The bounds that there are, each with how it is compared with."""
    return [(each, op) for each, op in ((least, ops.GE), (most, ops.LE)) if each is not None]


def clamped(x: Tensor, sides: Sequence[tuple[Operand, Op]]) -> Tensor:
    """One operation on elements for all bounds."""
    bounds = [each for each, _ in sides]
    which = " ".join(op.aten for _, op in sides)
    out = elementwise(result_type(x, *bounds), ops.CLAMP, x, *bounds, how=which)
    tensors = [each for each in bounds if isinstance(each, Tensor)]
    if x.device.grad_enabled and any(each.requires_grad for each in tensors):
        raise NotModelled("the gradient of a bound")
    return record(out, (x,), lambda g, x, *_: [of_clamped(g, x, sides)], x, *tensors)


def of_clamped(g: Tensor, x: Tensor, sides: Sequence[tuple[Operand, Op]]) -> Tensor:
    """Returns the gradient in the places that are inside of the bounds."""
    zero = filled(g, ())
    inside = [compare(x, each, op) for each, op in sides]
    both = inside[0]
    if len(inside) > 1 and tracer_at(g.device) is not None:
        both = compare(inside[0], inside[1], ops.LOGICAL_AND)
    found = elementwise(g.dtype, ops.WHERE, g, both, 0.0, role=g.role)
    del zero
    return found


@traced
def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """``torch.tril``."""
    out = empty(x.device, x.shape, x.dtype, x.role.made("triangle"))
    return record(out, (x,), lambda g: [tril(g)])


@traced
def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    """``torch.triu``."""
    return tril(x, diagonal)


def _needs(x: Operand) -> bool:
    return isinstance(x, Tensor) and x.node is not None
