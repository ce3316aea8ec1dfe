"""Sums, means and maxima (aten/src/ATen/native/ReduceOps.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import BOOL, FLOAT32, FLOATING, INT64
from nanolint.memory.tensors.layout import normalized
from nanolint.memory.tensors.ops.autocast import to_float32
from nanolint.memory.tensors.ops.pointwise import div, elementwise, mul, sub
from nanolint.memory.tensors.ops.unary import exp
from nanolint.memory.tensors.ops.views import contiguous, expand, unsqueeze, view
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.tensors.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.layout import Shape
    from nanolint.memory.tensors.tensor import Tensor


@traced
def total(
    x: Tensor, dims: Sequence[int] = (), *, keepdim: bool = False, dtype: Dtype | None = None
) -> Tensor:
    """``x.sum(dims)``; float32 under autocast. The gradient is repeated, which takes nothing."""
    over = _dimensions(x, dims)
    made = dtype or _summed_type(x)
    out = empty(x.device, _reduced(x.shape, over, keepdim), made, x.role.made("sum"))
    shape = x.shape

    def backward(g: Tensor) -> list[Tensor | None]:
        return [_restored(g, shape, over, keepdim)]

    return record(out, (x,), backward)


@traced
def mean(x: Tensor, dims: Sequence[int] = (), *, keepdim: bool = False) -> Tensor:
    """``x.mean(dims)``."""
    over = _dimensions(x, dims)
    out = empty(x.device, _reduced(x.shape, over, keepdim), x.dtype, x.role.made("mean"))
    shape = x.shape

    def backward(g: Tensor) -> list[Tensor | None]:
        return [div(_restored(g, shape, over, keepdim), 1.0)]

    return record(out, (x,), backward)


@traced
def maximum(x: Tensor, dims: Sequence[int] = (), *, keepdim: bool = False) -> Tensor:
    """``x.amax(dims)`` and ``amin``: equal maxima share the gradient."""
    over = _dimensions(x, dims)
    out = empty(x.device, _reduced(x.shape, over, keepdim), x.dtype, x.role.made("maximum"))
    shape = x.shape

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        mask = elementwise(BOOL, "comparison", _restored(out, shape, over, keepdim), x)
        count = empty(x.device, _reduced(shape, over, True), INT64, x.role.made("count"))
        wide = empty(x.device, shape, INT64, x.role.made("mask to count"))
        del wide
        shared = div(_kept(g, shape, over, keepdim), count)
        return [mul(shared, mask)]

    return record(out, (x,), backward, x, out)


@traced
def logsumexp(x: Tensor, dim: int, *, keepdim: bool = False) -> Tensor:
    """``torch.logsumexp``; float32 under autocast."""
    wide = to_float32(x)
    over = _dimensions(wide, (dim,))
    device, shape, dtype = x.device, x.shape, wide.dtype
    maxima = empty(device, _reduced(shape, over, True), dtype, x.role.made("maximum"))
    absolute = empty(device, maxima.shape, dtype, x.role.made("absolute value"))
    infinite = empty(device, maxima.shape, BOOL, x.role.made("comparison"))
    del absolute, infinite
    difference = elementwise(dtype, "difference", wide, maxima)
    out = empty(device, _reduced(shape, over, keepdim), dtype, x.role.made("log-sum-exp"))
    del difference, maxima

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        shifted = sub(x, _kept(out, shape, over, keepdim))
        weights = exp(shifted)
        return [mul(_kept(g, shape, over, keepdim), weights)]

    return record(out, (wide,), backward, wide, out)


@traced
def cumsum(x: Tensor, dim: int) -> Tensor:
    """``torch.cumsum``; float32 under autocast."""
    over, size = normalized(dim, x.ndim), x.shape[dim] if x.shape else 1
    made = _summed_type(x)
    out = empty(x.device, x.shape, made, x.role.made("cumulative sum"))
    source = contiguous(x)
    del source

    def backward(g: Tensor) -> list[Tensor | None]:
        if size == 1:
            return [g]
        flipped = elementwise(g.dtype, "flipped", g)
        summed = cumsum(flipped, over)
        return [elementwise(g.dtype, "flipped", summed)]

    return record(out, (x,), backward)


def _summed_type(x: Tensor) -> Dtype:
    if x.dtype.kind < FLOATING:
        return INT64
    return x.dtype if x.device.half is None or x.dtype.itemsize == 8 else FLOAT32


def _dimensions(x: Tensor, dims: Sequence[int]) -> tuple[int, ...]:
    """All of them where none is named."""
    return tuple(normalized(dim, x.ndim) for dim in dims) or tuple(range(x.ndim))


def _reduced(shape: Shape, dims: Sequence[int], keepdim: bool) -> Shape:
    if keepdim:
        return tuple(1 if dim in dims else size for dim, size in enumerate(shape))
    return tuple(size for dim, size in enumerate(shape) if dim not in dims)


def _kept(x: Tensor, shape: Shape, dims: Sequence[int], keepdim: bool) -> Tensor:
    """What was reduced, with dimensions of one element again."""
    if keepdim or not x.shape:
        return x if keepdim else view(x, (1,) * len(shape)) if shape else x
    found = x
    for dim in sorted(dims):
        found = unsqueeze(found, dim)
    return found


def _restored(x: Tensor, shape: Shape, dims: Sequence[int], keepdim: bool) -> Tensor:
    """What was reduced, repeated to the whole shape."""
    return expand(_kept(x, shape, dims, keepdim), shape)
