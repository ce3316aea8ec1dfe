"""Dropout (aten/src/ATen/native/Dropout.cpp and cuda/Dropout.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record_all
from nanolint.tensors.dtypes import BOOL
from nanolint.tensors.layout import like_strides
from nanolint.tensors.ops.creation import filled
from nanolint.tensors.ops.inplace import mul_
from nanolint.tensors.ops.pointwise import mul
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced

if TYPE_CHECKING:
    from nanolint.tensors.tensor import Tensor


@traced
def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """``F.dropout``: ``x`` itself unless it drops something; times 0 where it drops all."""
    if not (training and p > 0):
        return x
    if p == 1:
        nothing = filled(x, ())
        return mul_(x, nothing) if inplace else mul(x, nothing)
    if inplace:
        noise = empty(x.device, x.shape, x.dtype, x.role.made("dropout noise"))
        return mul_(x, noise)
    device, dims = x.device, x.role.dims
    mask = empty(device, x.shape, BOOL, x.role.made("dropout mask", dims))
    strides = like_strides(x.shape, x.strides)
    out = empty(device, x.shape, x.dtype, x.role.made("dropout output", dims), strides)

    def backward(_of_mask: None, g: Tensor, _mask: Tensor) -> list[Tensor | None]:
        return [empty(g.device, g.shape, g.dtype, g.role)]

    return record_all((mask, out), (x,), backward, mask)[1]
