"""Cumulative sums and products (aten/src/ATen/native/ReduceOps.cpp, cuda/ScanKernels.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import BOOL
from nanolint.memory.tensors.layout import normalized
from nanolint.memory.tensors.ops.joining import flip
from nanolint.memory.tensors.ops.pointwise import div, elementwise, mul
from nanolint.memory.tensors.ops.reductions import summed_type
from nanolint.memory.tensors.ops.views import contiguous
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.tensors.tracing import traced

if TYPE_CHECKING:
    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.tensor import Tensor


@traced
def cumsum(x: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    """``torch.cumsum``; float32 under autocast."""
    over, size = normalized(dim, x.ndim), x.shape[dim] if x.shape else 1
    made = dtype or summed_type(x)
    out = empty(x.device, x.shape, made, x.role.made("cumulative sum"))
    source = contiguous(x)
    del source

    def backward(g: Tensor) -> list[Tensor | None]:
        if size == 1:
            return [g]
        return [_reversed_sum(g, over)]

    return record(out, (x,), backward)


def cumprod(x: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    """``torch.cumprod``; float32 under autocast."""
    over, size = normalized(dim, x.ndim), x.shape[dim] if x.shape else 1
    made = dtype or summed_type(x)
    out = empty(x.device, x.shape, made, x.role.made("cumulative product"))
    source = contiguous(x)
    del source

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        if size == 1:
            return [g]
        weighted = mul(out, g)
        zeros = elementwise(BOOL, "comparison", x)
        del zeros
        summed = _reversed_sum(weighted, over)
        return [div(summed, x)]

    return record(out, (x,), backward, x, out)


def _reversed_sum(g: Tensor, dim: int) -> Tensor:
    flipped = flip(g, (dim,))
    summed = cumsum(flipped, dim)
    return flip(summed, (dim,))
