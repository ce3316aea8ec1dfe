"""Sums, means, maxima, norms and variances (aten/src/ATen/native/ReduceOps.cpp,
LinearAlgebra.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nanolint.tensors.autograd import record, record_all
from nanolint.tensors.dtypes import BOOL, FLOAT32, FLOATING, INT64, UINT8
from nanolint.tensors.layout import normalized
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.comparison import clamp_min
from nanolint.tensors.ops.conversion import to_float32
from nanolint.tensors.ops.pointwise import add, div, elementwise, mul, sub
from nanolint.tensors.ops.sums import reduction
from nanolint.tensors.ops.unary import exp
from nanolint.tensors.ops.views import cast, contiguous, expand, unsqueeze, view
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.tracing import traced
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.layout import Shape

Dimensions: TypeAlias = "int | Sequence[int] | None"

ROOTS = (2, "fro", None)  # orders of norms that are the root of a sum of squares


@traced
def sum(
    x: Tensor, dim: Dimensions = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """``x.sum(dim)``; float32 under autocast. The gradient is repeated, which takes nothing."""
    over = dimensions(x, dim)
    made = dtype or summed_type(x)
    out = empty(x.device, reduced(x.shape, over, keepdim), made, x.role.made("sum"))
    reduction(_widened(x, made), over)
    shape = x.shape

    def backward(g: Tensor) -> list[Tensor | None]:
        return [restored(g, shape, over, keepdim)]

    return record(out, (x,), backward)


@traced
def mean(
    x: Tensor, dim: Dimensions = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """``x.mean(dim)``."""
    over = dimensions(x, dim)
    made = dtype or x.dtype
    out = empty(x.device, reduced(x.shape, over, keepdim), made, x.role.made("mean"))
    reduction(_widened(x, made), over)
    shape = x.shape

    def backward(g: Tensor) -> list[Tensor | None]:
        return [div(restored(g, shape, over, keepdim), 1.0)]

    return record(out, (x,), backward)


@traced
def amax(x: Tensor, dim: Dimensions = (), keepdim: bool = False) -> Tensor:
    """``x.amax(dim)``: equal maxima share the gradient."""
    over = dimensions(x, dim)
    out = empty(x.device, reduced(x.shape, over, keepdim), x.dtype, x.role.made("maximum"))
    reduction(x, over, accumulator=x.dtype.itemsize)
    shape = x.shape

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        mask = elementwise(BOOL, ops.EQ, restored(out, shape, over, keepdim), x)
        count = empty(x.device, reduced(shape, over, True), INT64, x.role.made("count"))
        wide = empty(x.device, shape, INT64, x.role.made("mask to count"))
        reduction(wide, over, accumulator=INT64.itemsize)
        del wide
        shared = div(kept(g, shape, over, keepdim), count)
        return [mul(shared, mask)]

    return record(out, (x,), backward, x, out)


@traced
def amin(x: Tensor, dim: Dimensions = (), keepdim: bool = False) -> Tensor:
    """``x.amin(dim)``."""
    return amax(x, dim, keepdim)


@traced
def prod(
    x: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """``x.prod(dim)``; float32 under autocast."""
    over = dimensions(x, dim)
    made = dtype or summed_type(x)
    out = empty(x.device, reduced(x.shape, over, keepdim), made, x.role.made("product"))
    reduction(_widened(x, made), over)
    shape = x.shape

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        flow = cast(g, x.dtype)
        wide = mul(kept(flow, shape, over, keepdim), kept(out, shape, over, keepdim))
        return [div(wide, x)]

    return record(out, (x,), backward, x, out)


@traced
def logsumexp(x: Tensor, dim: Dimensions, keepdim: bool = False) -> Tensor:
    """``torch.logsumexp``; float32 under autocast."""
    wide = to_float32(x)
    over = dimensions(wide, dim)
    device, shape, dtype = x.device, x.shape, wide.dtype
    maxima = empty(device, reduced(shape, over, True), dtype, x.role.made("maximum"))
    reduction(wide, over, accumulator=dtype.itemsize)
    absolute = empty(device, maxima.shape, dtype, x.role.made("absolute value"))
    infinite = empty(device, maxima.shape, BOOL, x.role.made("comparison"))
    del absolute, infinite
    difference = elementwise(dtype, ops.SUB, wide, maxima)
    out = empty(device, reduced(shape, over, keepdim), dtype, x.role.made("log-sum-exp"))
    reduction(difference, over)
    del difference, maxima

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        shifted = sub(x, kept(out, shape, over, keepdim))
        weights = exp(shifted)
        return [mul(kept(g, shape, over, keepdim), weights)]

    return record(out, (wide,), backward, wide, out)


@traced
def norm(
    x: Tensor,
    p: Number | str | None = "fro",
    dim: Dimensions = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """``x.norm()`` and ``torch.linalg.vector_norm``; float32 under autocast.

    The gradient of each order is written with other operations: those of 1 and 2 are known.
    """
    if isinstance(p, str) and p != "fro":
        raise NotModelled(f"a norm of order {p}")
    if p not in (1, *ROOTS) and x.node is not None and x.device.grad_enabled:
        raise NotModelled(f"the gradient of a norm of order {p}")
    over = dimensions(x, dim)
    made = dtype or (x.dtype if x.device.half is None else summed_type(x))
    out = empty(x.device, reduced(x.shape, over, keepdim), made, x.role.made("norm"))
    reduction(x, over)
    shape = x.shape

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        whole = len(over) == len(shape)  # a tensor without dimensions stays one
        if p == 1:
            sign = elementwise(x.dtype, ops.SIGN, x)
            return [mul(sign, g if whole else kept(g, shape, over, keepdim))]
        long = out if whole else kept(out, shape, over, keepdim)
        direction = div(x, long)
        zero = elementwise(BOOL, ops.EQ, long)
        found = mul(g if whole else kept(g, shape, over, keepdim), direction)
        del direction, zero
        return [found]

    return record(out, (x,), backward, x, out)


def vector_norm(
    x: Tensor,
    ord: Number = 2,
    dim: Dimensions = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """``torch.linalg.vector_norm``."""
    return norm(x, ord, dim, keepdim, dtype=dtype)


def linalg_norm(
    x: Tensor,
    ord: Number | str | None = None,
    dim: Dimensions = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """``torch.linalg.norm``: of a matrix if an order is named and two dimensions are meant."""
    dims = len(x.shape) if dim is None else len(dimensions(x, dim))
    is_of_vector = ord is None or (dims == 1 and not isinstance(ord, str))
    if not is_of_vector and (ord != "fro" or dims != 2):
        raise NotModelled(f"torch.linalg.norm of order {ord} of {dims} dimensions")
    return norm(x, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@traced
def any(x: Tensor, dim: Dimensions = None, keepdim: bool = False) -> Tensor:
    """``x.any(dim)``: no gradient."""
    over = dimensions(x, dim)
    made = UINT8 if x.dtype is UINT8 else BOOL
    out = empty(x.device, reduced(x.shape, over, keepdim), made, x.role.made("truth"))
    reduction(x, over, accumulator=1)
    return out


@traced
def all(x: Tensor, dim: Dimensions = None, keepdim: bool = False) -> Tensor:
    """``x.all(dim)``: no gradient."""
    return any(x, dim, keepdim)


def extreme(x: Tensor) -> Tensor:
    """The largest or smallest of all elements: the gradient is shared by equal ones."""
    out = empty(x.device, (), x.dtype, x.role.made("maximum"))
    source = contiguous(x.detach())
    reduction(source, range(x.ndim), accumulator=x.dtype.itemsize)
    del source

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        mask = elementwise(BOOL, ops.EQ, x)
        no_number = elementwise(BOOL, ops.ISNAN, out)
        no_numbers = elementwise(BOOL, ops.ISNAN, x)
        count = sum(mask)
        shared = div(g, count)
        found = mul(mask, shared)
        del no_number, no_numbers, count, shared
        return [found]

    return record(out, (x,), backward, x, out)


def count_nonzero(x: Tensor, dim: Dimensions = None) -> Tensor:
    """``torch.count_nonzero``."""
    mask = elementwise(BOOL, ops.NE, x)
    out = sum(mask, dim)
    del mask
    return out


def normalize(x: Tensor, p: Number = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """``F.normalize``: divided by its norm, which is clamped and repeated."""
    length = norm(x, p, dim, keepdim=True)
    clamped = clamp_min(length, eps)
    del length
    denominator = expand(clamped, x.shape)
    return div(x, denominator)


def _widened(x: Tensor, dtype: Dtype) -> Tensor:
    """What the kernel reads: the type of the result, but for halves that are summed in float32."""
    halves = x.dtype.itemsize == 2 and dtype is FLOAT32 and x.dtype.kind == FLOATING
    return x if x.dtype is dtype or halves else cast(x.detach(), dtype)


def summed_type(x: Tensor) -> Dtype:
    """The type of a sum: integers are counted in int64, autocast sums in float32."""
    if x.dtype.kind < FLOATING:
        return INT64
    return x.dtype if x.device.half is None or x.dtype.itemsize == 8 else FLOAT32


def dimensions(x: Tensor, dim: Dimensions) -> tuple[int, ...]:
    """Returns dimensions counted from the front; all of them if none is named."""
    if isinstance(dim, int):
        return (normalized(dim, x.ndim),)
    return tuple(normalized(each, x.ndim) for each in dim or ()) or tuple(range(x.ndim))


def reduced(shape: Shape, dims: Sequence[int], keepdim: bool) -> Shape:
    """Without ``dims``, or with one element in each."""
    if keepdim:
        return tuple(1 if dim in dims else size for dim, size in enumerate(shape))
    return tuple(size for dim, size in enumerate(shape) if dim not in dims)


def kept(x: Tensor, shape: Shape, dims: Sequence[int], keepdim: bool) -> Tensor:
    """Returns a reduced tensor with dimensions of one element again."""
    if keepdim or not x.shape:
        return x if keepdim else view(x, (1,) * len(shape)) if shape else x
    found = x
    for dim in sorted(dims):
        found = unsqueeze(found, dim)
    return found


def restored(x: Tensor, shape: Shape, dims: Sequence[int], keepdim: bool) -> Tensor:
    """Returns a reduced tensor, repeated to the whole shape."""
    return expand(kept(x, shape, dims, keepdim), shape)


@traced
def var(
    x: Tensor,
    dim: Dimensions = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Tensor:
    """``x.var(dim)``."""
    over = dimensions(x, dim)
    out = empty(x.device, reduced(x.shape, over, keepdim), x.dtype, x.role.made("variance"))
    reduction(x, over, accumulator=_carried(x))
    shape = x.shape

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        return [_of_variance(kept(g, shape, over, keepdim), x, over)]

    return record(out, (x,), backward, x)


def _carried(x: Tensor) -> int:
    """The bytes of ``WelfordData``: a mean, a sum of squares, and two counts of their own sizes
    (SharedReduceOps.h; the sums of halves are float32)."""
    return 32 if x.dtype.itemsize == 8 else 16


def _of_variance(g: Tensor, x: Tensor, over: tuple[int, ...]) -> Tensor:
    middle = mean(x, over, keepdim=True)
    difference = sub(x, middle)
    scaled = mul(g, 2.0)
    return mul(scaled, difference)


@traced
def std(
    x: Tensor,
    dim: Dimensions = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Tensor:
    """``x.std(dim)``."""
    over = dimensions(x, dim)
    out = empty(x.device, reduced(x.shape, over, keepdim), x.dtype, x.role.made("deviation"))
    reduction(x, over, accumulator=_carried(x))
    shape = x.shape

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        twice = mul(out, 2)
        quotient = div(g, twice)
        zero = elementwise(BOOL, ops.EQ, out)
        del twice, zero
        return [_of_variance(kept(quotient, shape, over, keepdim), x, over)]

    return record(out, (x,), backward, x, out)


@traced
def var_mean(
    x: Tensor,
    dim: Dimensions = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> tuple[Tensor, Tensor]:
    """``torch.var_mean``: one reduction, whose gradients are added."""
    over, shape, dtype = dimensions(x, dim), x.shape, x.dtype
    small = reduced(shape, over, keepdim)
    names = ("variance", "mean")
    outs = [empty(x.device, small, dtype, x.role.made(each)) for each in names]
    reduction(x, over, accumulator=_carried(x))

    def backward(of_var: Tensor | None, of_mean: Tensor | None, x: Tensor) -> list[Tensor | None]:
        found = (
            None if of_var is None else _of_variance(kept(of_var, shape, over, keepdim), x, over)
        )
        if of_mean is not None:
            other = div(restored(of_mean, shape, over, keepdim), 1.0)
            found = other if found is None else add(found, other)
        return [found]

    variance, middle = record_all(outs, (x,), backward, x)
    return variance, middle
