"""Normalisation of rows and of channels (aten/src/ATen/native/layer_norm.cpp, Normalization.cpp,
group_norm.cpp, cuda/layer_norm_kernel.cu, cuda/group_norm_kernel.cu)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.tape.torch import (
    GROUP_NORM_LAST_SINCE,
    GROUP_NORM_WIDE_SINCE,
    LAYER_NORM_PARTIAL_TOKENS,
    RMS_NORM_FLOAT32_SINCE,
    RMS_NORM_FUSED_SINCE,
)
from nanolint.tensors import refusing
from nanolint.tensors.autograd import record_all
from nanolint.tensors.dtypes import BFLOAT16, FLOAT32
from nanolint.tensors.layout import is_contiguous
from nanolint.tensors.ops.conversion import to_float32
from nanolint.tensors.ops.formats import empty_in, in_format, suggests_last
from nanolint.tensors.ops.pointwise import add, mul
from nanolint.tensors.ops.reductions import mean
from nanolint.tensors.ops.unary import pow, rsqrt
from nanolint.tensors.ops.views import cast, contiguous
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced, traced_after, tracer_at
from nanolint.tensors.unknown import NotModelled

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


CUDNN = "the number leaves out cuDNN's own memory for batch normalisation"


@traced
def batch_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float | None = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``F.batch_norm`` of (B, channels, ...)."""
    if x.ndim < 3:
        raise NotModelled("batch_norm of an input without space")
    device, shape, dtype = x.device, x.shape, x.dtype
    sums = FLOAT32 if dtype.itemsize < 4 else dtype
    channels = x.shape[1]
    # ``_select_batch_norm_backend``: cuDNN takes no bfloat16.
    by_cudnn = weight is not None and bias is not None and dtype is not BFLOAT16
    if by_cudnn and training:
        device.tape.assume(CUDNN)
    last = suggests_last(x)
    if last and not by_cudnn:
        raise NotModelled("batch_norm whose channels move fastest")
    copy = in_format(x, last=last)
    out = empty_in(device, shape, dtype, x.role.made("BatchNorm output", x.role.dims), last=last)
    del copy
    saved = [
        empty(device, (channels,), sums, x.role.made(f"BatchNorm {name}"))
        for name in (() if by_cudnn and not training else ("mean", "rstd"))
    ]
    inputs = x, weight, bias
    makes = [each is not None and (by_cudnn or each.requires_grad) for each in inputs]
    roles = [None if each is None else each.role.gradient for each in inputs]

    def backward(g: Tensor, *rest: Tensor | None) -> list[Tensor | None]:
        source = next(each for each in rest if each is not None)
        copies = in_format(source, last=last), in_format(g, last=last)
        found: list[Tensor | None] = []
        for place, (made, role) in enumerate(zip(makes, roles, strict=True)):
            if not made or role is None:
                found.append(None)
            elif place:
                found.append(empty(device, (channels,), sums, role))
            else:
                found.append(empty_in(device, shape, dtype, role, last=last))
        del copies
        return found

    kept = x, weight, running_mean, running_var, *saved
    return record_all((out, *saved), inputs, backward, *kept)[0]


@traced
def group_norm(
    x: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``F.group_norm`` of (B, channels, ...); float32 under autocast."""
    shift = bias and to_float32(bias)
    scale = weight and to_float32(weight)
    cast = to_float32(x)
    last = x.device.release >= GROUP_NORM_LAST_SINCE and suggests_last(cast)
    source = cast if last else contiguous(cast)
    if in_format(source, last=last) is not source:
        raise NotModelled("group_norm of a part of a tensor whose channels move fastest")
    device, shape, dtype = x.device, x.shape, source.dtype
    batch, channels = shape[:2]
    flat = x.numel == batch * channels  # ``GroupNorm1dForward`` and its backward pass
    if flat and last:
        raise NotModelled("group_norm of single places whose channels move fastest")
    made = x.role.made
    out = empty_in(device, shape, dtype, made("GroupNorm output", x.role.dims), last=last)
    mean = empty(device, (batch, num_groups), dtype, made("GroupNorm mean"))
    rstd = empty(device, (batch, num_groups), dtype, made("GroupNorm rstd"))
    wide = FLOAT32 if dtype.itemsize < 4 else dtype
    held = []
    if wide is not dtype and device.release >= GROUP_NORM_WIDE_SINCE:
        held += [empty(device, (batch, num_groups), wide, made("moments")) for _ in range(2)]
    if not flat and (last or scale is not None or shift is not None):
        held += [empty(device, (batch, channels), wide, made("factors")) for _ in range(2)]
    del held
    inputs = source, scale, shift
    is_scaled = scale is not None
    needs = [each is not None and each.requires_grad for each in inputs]
    roles = [None if each is None else each.role.gradient for each in inputs]

    def backward(
        g: Tensor, _mean: None, _rstd: None, x: Tensor, *_saved: Tensor | None
    ) -> list[Tensor | None]:
        copies = in_format(x, last=last), in_format(g, last=last)
        found = [
            empty_in(
                device, shape if place == 0 else (channels,), dtype, role, last=last and not place
            )
            if needed and role
            else None
            for place, (needed, role) in enumerate(zip(needs, roles, strict=True))
        ]
        sums = [
            empty(device, (batch, channels), wide, made("partial sums"))
            for _ in range(0 if flat and device.release >= GROUP_NORM_LAST_SINCE else 2)
        ]
        if needs[0]:
            sums += [empty(device, (batch, num_groups), wide, made("factors")) for _ in range(2)]
            if is_scaled and not (last or flat):
                sums += [empty(device, (batch, channels), wide, made("factors"))]
        del sums, copies
        return found

    return record_all((out, mean, rstd), inputs, backward, source, scale, mean, rstd)[0]
