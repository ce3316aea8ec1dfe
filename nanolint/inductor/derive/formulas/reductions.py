"""Sums, means, maxima (torch/_inductor/lowering.py, make_reduction)."""

from __future__ import annotations

from functools import partial
from math import inf, prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.counting import is_half
from nanolint.inductor.derive.formulas.elements import masked_fill
from nanolint.tensors.autograd import record
from nanolint.tensors.device import NotTraced
from nanolint.tensors.dtypes import FLOAT32, FLOATING, INT64
from nanolint.tensors.layout import normalized
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.comparison import compare
from nanolint.tensors.ops.conversion import to_float32
from nanolint.tensors.ops.pointwise import add, div, mul, sub
from nanolint.tensors.ops.unary import abs as absolute
from nanolint.tensors.ops.unary import exp, log, sqrt
from nanolint.tensors.ops.views import cast, expand, squeeze, unsqueeze, view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.inductor.derive.writing import Traced
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.ops.reductions import Dimensions
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.tensor import Tensor


def reduce(
    t: Capture,
    op: Op,
    x: Tensor,
    over: tuple[int, ...],
    keepdim: bool,
    dtype: Dtype | None = None,
    *settings: str,
) -> Traced:
    """One reduction, without a gradient."""
    dtype = dtype or x.dtype
    kept = tuple(1 if dim in over else size for dim, size in enumerate(x.shape))
    shape = kept if keepdim else tuple(s for dim, s in enumerate(x.shape) if dim not in over)
    return t.make(op, (x,), shape, dtype, x.role.made(op.label), over, keepdim, *settings)


def dimensions(x: Tensor, dim: Dimensions) -> tuple[int, ...]:
    """Returns the dimensions; all of them if none is named."""
    dims = (dim,) if isinstance(dim, int) else dim or ()
    return tuple(sorted(normalized(each, x.ndim) for each in dims)) or tuple(range(x.ndim))


def restored(x: Tensor, shape: Shape, over: Sequence[int], keepdim: bool) -> Tensor:
    """Returns a reduced tensor, repeated to the whole shape."""
    return expand(_kept(x, shape, over, keepdim), shape)


def _kept(x: Tensor, shape: Shape, over: Sequence[int], keepdim: bool) -> Tensor:
    """What was reduced, with the dimensions that are gone (``restore_reduced_dims``)."""
    if not keepdim:
        for dim in over:
            x = unsqueeze(x, dim) if x.shape else view(x, (1,) * len(shape))
            if x.ndim == len(shape):
                break
    return x


def total(
    t: Capture,
    x: Tensor,
    dim: Dimensions = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """``aten.sum``; float32 under autocast."""
    over, shape = dimensions(x, dim), x.shape
    if dtype is None and x.dtype.kind < FLOATING:
        dtype = INT64
    if dtype is None and x.device.half is not None and is_half(x.dtype):
        dtype = FLOAT32  # ``fp32_set_opt_dtype``: no cast of its own
    out = reduce(t, ops.SUM, x, over, keepdim, dtype)

    def backward(g: Tensor) -> list[Tensor | None]:
        return [restored(g, shape, over, keepdim)]

    return record(out, (x,), backward)


def mean(
    t: Capture,
    x: Tensor,
    dim: Dimensions = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """``aten.mean``."""
    if dtype is not None:
        x = cast(x, dtype)
    over, shape = dimensions(x, dim), x.shape
    out = reduce(t, ops.MEAN, x, over, keepdim)
    count = prod(shape[dim] for dim in over)

    def backward(g: Tensor) -> list[Tensor | None]:
        return [div(restored(g, shape, over, keepdim), count)]

    return record(out, (x,), backward)


def extreme(
    t: Capture, x: Tensor, dim: Dimensions = None, keepdim: bool = False, *, op: Op
) -> Tensor:
    """``aten.amax`` and ``aten.amin``: equal ones share the gradient."""
    over, shape = dimensions(x, dim), x.shape
    out = reduce(t, op, x, over, keepdim)

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        mask = compare(_kept(out, shape, over, keepdim), x)
        count = reduce(t, ops.SUM, cast(mask, INT64), over, True, INT64)
        return [mul(div(_kept(g, shape, over, keepdim), count), mask)]

    return record(out, (x,), backward, x, out)


def logsumexp(t: Capture, x: Tensor, dim: Dimensions, keepdim: bool = False) -> Tensor:
    """``aten.logsumexp``; float32 under autocast. An infinite maximum is not taken off
    (torch/_refs)."""
    wide = to_float32(x)
    over, shape = dimensions(wide, dim), wide.shape
    with t.device.no_grad():
        most = reduce(t, ops.AMAX, wide, over, True)
        top = masked_fill(t, most, compare(absolute(most), inf))
        summed = reduce(t, ops.SUM, exp(sub(wide, top)), over, keepdim)
        out = add(log(summed), top if keepdim else squeeze(top, over))

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        weights = exp(sub(x, _kept(out, shape, over, keepdim)))
        return [mul(_kept(g, shape, over, keepdim), weights)]

    return record(out, (wide,), backward, wide, out)


def norm(
    t: Capture,
    x: Tensor,
    p: Number | str | None = "fro",
    dim: Dimensions = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """``linalg_vector_norm`` of order 2: the root of a sum of squares, in float32."""
    if p not in {"fro", 2, None}:
        raise NotTraced(f"a norm of order {p}")
    over, shape = dimensions(x, dim), x.shape
    made = dtype or (x.dtype if x.device.half is None else FLOAT32)
    with t.device.no_grad():
        wide = cast(x, FLOAT32)
        squares = reduce(t, ops.SUM, mul(wide, wide), over, keepdim)
        out = cast(sqrt(squares), made, x.role.made("norm"))

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        length = _kept(out, shape, over, keepdim)
        direction = masked_fill(t, div(x, length), compare(length, 0))
        return [mul(_kept(g, shape, over, keepdim), direction)]

    return record(out, (x,), backward, x, out)


FORMULAS: Formulas = {
    "norm": norm,
    "sum": total,
    "mean": mean,
    "amax": partial(extreme, op=ops.AMAX),
    "amin": partial(extreme, op=ops.AMIN),
    "logsumexp": logsumexp,
}
