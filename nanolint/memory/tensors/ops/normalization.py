"""Normalisation (aten/src/ATen/native/cuda/layer_norm_kernel.cu)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.memory.constants import LAYER_NORM_PARTIAL_TOKENS
from nanolint.memory.tensors.autograd import record_all
from nanolint.memory.tensors.dtypes import FLOAT32
from nanolint.memory.tensors.ops.autocast import to_float32
from nanolint.memory.tensors.ops.views import contiguous
from nanolint.memory.tensors.tensor import empty

if TYPE_CHECKING:
    from nanolint.memory.tensors.tensor import Tensor


def layer_norm(x: Tensor, dimensions: int, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """``F.layer_norm`` over the last ``dimensions``; float32 under autocast."""
    shift = bias and to_float32(bias)
    scale = weight and to_float32(weight)
    source = to_float32(x)
    device, shape, dtype = x.device, x.shape, source.dtype
    inner = shape[len(shape) - dimensions :]
    width = prod(inner)
    rows = x.numel // width
    in_order = contiguous(source)
    sums = FLOAT32 if dtype.itemsize < 4 else dtype
    made = x.role.made
    out = empty(device, shape, dtype, made("LayerNorm output", x.role.dims))
    mean = empty(device, (rows,), sums, made("LayerNorm mean"))
    rstd = empty(device, (rows,), sums, made("LayerNorm rstd"))
    del in_order
    inputs = source, scale, shift
    needs = [each is not None and each.requires_grad for each in inputs]
    roles = [None if each is None else each.role.gradient for each in inputs]

    def backward(
        g: Tensor, _mean: None, _rstd: None, x: Tensor, *_saved: Tensor | None
    ) -> list[Tensor | None]:
        copies = contiguous(x), contiguous(g)
        found = [
            empty(device, shape if place == 0 else inner, dtype, role) if needed and role else None
            for place, (needed, role) in enumerate(zip(needs, roles, strict=True))
        ]
        if rows > LAYER_NORM_PARTIAL_TOKENS and width // 32 < device.sm_count // 2:
            partial = [
                empty(device, (rows // 32, width), dtype, role)
                for needed, role in zip(needs[1:], roles[1:], strict=True)
                if needed and role
            ]
            del partial
        del copies
        return found

    return record_all((out, mean, rstd), inputs, backward, source, scale, mean, rstd)[0]
