"""Cumulative sums and products (aten/src/ATen/native/ReduceOps.cpp, cuda/ScanKernels.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import BOOL, UINT8
from nanolint.tensors.layout import normalized
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.joining import flip
from nanolint.tensors.ops.pointwise import div, elementwise, mul
from nanolint.tensors.ops.reductions import any, summed_type
from nanolint.tensors.ops.sums import scan_bytes
from nanolint.tensors.ops.views import cast, contiguous
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.tensor import Tensor


@traced
def cumsum(x: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    """``torch.cumsum``; float32 under autocast."""
    over, size = normalized(dim, x.ndim), x.shape[dim] if x.shape else 1
    made = dtype or summed_type(x)
    out = empty(x.device, x.shape, made, x.role.made("cumulative sum"))
    source = contiguous(cast(x.detach(), made))
    _scan(source, size)
    del source
    before = x.dtype

    def backward(g: Tensor) -> list[Tensor | None]:
        if size == 1:
            return [g]
        return [_reversed_sum(cast(g, before), over)]

    return record(out, (x,), backward)


@traced
def cumprod(x: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    """``torch.cumprod``; float32 under autocast."""
    over, size = normalized(dim, x.ndim), x.shape[dim] if x.shape else 1
    made = dtype or summed_type(x)
    out = empty(x.device, x.shape, made, x.role.made("cumulative product"))
    source = contiguous(cast(x.detach(), made))
    _scan(source, size)
    del source

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        flow = cast(g, x.dtype)
        if size == 1:
            return [flow]
        weighted = mul(out, flow)
        zeros = elementwise(BOOL, ops.EQ, x)
        any(zeros)
        summed = _reversed_sum(weighted, over)
        found = div(summed, x)
        del zeros
        return [found]

    return record(out, (x,), backward, x, out)


def _scan(x: Tensor, size: int) -> None:
    """One row alone is summed by CUB."""
    if size == x.numel > 1:
        nbytes = scan_bytes(size, narrow=x.dtype.itemsize == 4)
        state = empty(x.device, (nbytes,), UINT8, x.role)
        del state


def _reversed_sum(g: Tensor, dim: int) -> Tensor:
    flipped = flip(g, (dim,))
    summed = cumsum(flipped, dim)
    return flip(summed, (dim,))
