"""Normalisation (aten/src/ATen/native/layer_norm.cpp, cuda/layer_norm_kernel.cu)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.tape.constants import LAYER_NORM_PARTIAL_TOKENS
from nanolint.tape.torch import RMS_NORM_FLOAT32_SINCE, RMS_NORM_FUSED_SINCE
from nanolint.tensors import refusing
from nanolint.tensors.autograd import record_all
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.layout import is_contiguous
from nanolint.tensors.ops.autocast import to_float32
from nanolint.tensors.ops.pointwise import add, mul
from nanolint.tensors.ops.reductions import mean
from nanolint.tensors.ops.unary import pow, rsqrt
from nanolint.tensors.ops.views import cast, contiguous
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced_after, tracer_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.device import Card
    from nanolint.tensors.tensor import Tensor

LEAST = 2**-23  # epsilon where none is given: of float32


@traced_after(refusing.normalized_over)
def layer_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``F.layer_norm`` over the last dimensions; float32 under autocast."""
    shift = bias and to_float32(bias)
    scale = weight and to_float32(weight)
    source = to_float32(x)
    device, shape, dtype = x.device, x.shape, source.dtype
    inner = tuple(normalized_shape)
    refusing.of_one_type(source, scale)
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
        if rows > LAYER_NORM_PARTIAL_TOKENS and device.asked.ask(_is_narrow, width):
            partial = [
                empty(device, (rows // 32, width), dtype, role)
                for needed, role in zip(needs[1:], roles[1:], strict=True)
                if needed and role
            ]
            del partial
        del copies
        return found

    return record_all((out, mean, rstd), inputs, backward, source, scale, mean, rstd, shift)[0]


def _is_narrow(card: Card, width: int) -> bool:
    """Whether the rows alone keep half of the card busy."""
    return width // 32 < card.multiprocessors // 2


def is_written_out(x: Tensor, weight: Tensor | None) -> bool:
    """Whether ``rms_norm`` is ``rms_norm_composite`` (aten/src/ATen/native/layer_norm.cpp)."""
    mixes = weight is not None and weight.dtype is not x.dtype
    return x.device.release < RMS_NORM_FUSED_SINCE or mixes


def written_out(x: Tensor, dimensions: int, weight: Tensor | None, eps: float | None) -> Tensor:
    """``rms_norm_composite``: the square's mean, in float32, and two products, which since there is
    one kernel, too, lie in order, except for images whose channels move fastest."""
    wide = cast(x, FLOAT32) if x.dtype.itemsize < 4 else x
    squares = pow(wide, 2)
    shifted = mean(squares, range(-dimensions, 0), keepdim=True)
    if tracer_at(x.device) is not None:  # in place where it runs
        shifted = add(shifted, LEAST if eps is None else eps)
    scale = rsqrt(shifted)
    del squares, shifted
    normed = mul(wide, scale)
    if weight is not None:
        normed = mul(normed, weight)
    is_old = x.device.release < RMS_NORM_FUSED_SINCE
    return normed if is_old or is_channels_last(x) else contiguous(normed)


def is_channels_last(x: Tensor) -> bool:
    order = (0, 2, 3, 1)
    if x.ndim != 4 or x.is_contiguous:
        return False
    shape, strides = (tuple(sizes[dim] for dim in order) for sizes in (x.shape, x.strides))
    return is_contiguous(shape, strides)


@traced_after(refusing.normalized_by_roots)
def rms_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """``F.rms_norm`` over the last dimensions.

    One kernel since torch 2.9, except for images whose channels move fastest and for a weight of
    another type; float32 under autocast since 2.12.
    """
    release, dimensions = x.device.release, len(normalized_shape)
    casts = release >= RMS_NORM_FLOAT32_SINCE
    scale = to_float32(weight) if weight is not None and casts else weight
    source = to_float32(x) if casts else x
    if is_written_out(source, scale) or is_channels_last(source):
        return cast(written_out(source, dimensions, scale, eps), source.dtype)
    device, shape, dtype = x.device, x.shape, source.dtype
    inner = tuple(normalized_shape)
    rows = shape[: len(shape) - dimensions] + (1,) * dimensions
    in_order = contiguous(source)
    sums = FLOAT32 if dtype.itemsize < 4 else dtype
    out = empty(device, shape, dtype, x.role.made("RMSNorm output", x.role.dims))
    rstd = empty(device, rows, sums, x.role.made("RMSNorm rstd"))
    del in_order
    inputs = source, scale
    needs = [each is not None and each.requires_grad for each in inputs]
    roles = [None if each is None else each.role.gradient for each in inputs]

    def backward(g: Tensor, _rstd: None, x: Tensor, *_saved: Tensor | None) -> list[Tensor | None]:
        copies = contiguous(x), contiguous(g)
        found = [
            empty(device, shape if place == 0 else inner, dtype, role) if needed and role else None
            for place, (needed, role) in enumerate(zip(needs, roles, strict=True))
        ]
        del copies
        return found

    return record_all((out, rstd), inputs, backward, source, scale, rstd)[0]
