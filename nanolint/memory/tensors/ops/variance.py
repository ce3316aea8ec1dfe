"""Variance and standard deviation (aten/src/ATen/native/ReduceOps.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import BOOL
from nanolint.memory.tensors.ops.pointwise import div, elementwise, mul, sub
from nanolint.memory.tensors.ops.reductions import Dimensions, dimensions, kept, mean, reduced
from nanolint.memory.tensors.ops.sums import reduction
from nanolint.memory.tensors.tensor import Tensor, empty
from nanolint.memory.tensors.tracing import traced

if TYPE_CHECKING:
    from nanolint.memory.tensors.dtypes import Number


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
    reduction(x, over, accumulator=16)
    shape = x.shape

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        return [_of_variance(kept(g, shape, over, keepdim), x, over)]

    return record(out, (x,), backward, x)


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
    reduction(x, over, accumulator=16)
    shape = x.shape

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        twice = mul(out, 2)
        quotient = div(g, twice)
        zero = elementwise(BOOL, "comparison", out)
        del twice, zero
        return [_of_variance(kept(quotient, shape, over, keepdim), x, over)]

    return record(out, (x,), backward, x, out)


def var_mean(
    x: Tensor,
    dim: Dimensions = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> tuple[Tensor, Tensor]:
    """``torch.var_mean``, as two reductions."""
    return var(x, dim, unbiased, keepdim, correction=correction), mean(x, dim, keepdim)
