"""Normalisation of channels (aten/src/ATen/native/Normalization.cpp, group_norm.cpp,
cuda/group_norm_kernel.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.torch import GROUP_NORM_LAST_SINCE, GROUP_NORM_WIDE_SINCE
from nanolint.tensors.autograd import record_all
from nanolint.tensors.dtypes import BFLOAT16, FLOAT32
from nanolint.tensors.ops.autocast import to_float32
from nanolint.tensors.ops.formats import empty_in, in_format, suggests_last
from nanolint.tensors.ops.views import contiguous
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from nanolint.tensors.tensor import Tensor

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
