"""Variance and standard deviation (aten/src/ATen/native/ReduceOps.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record, record_all
from nanolint.tensors.dtypes import BOOL
from nanolint.tensors.ops.pointwise import add, div, elementwise, mul, sub
from nanolint.tensors.ops.reductions import Dimensions, dimensions, kept, mean, reduced, restored
from nanolint.tensors.ops.sums import reduction
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.tracing import traced

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Number


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
        zero = elementwise(BOOL, "comparison", out)
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
