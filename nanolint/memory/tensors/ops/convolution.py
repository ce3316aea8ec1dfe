"""Convolutions (aten/src/ATen/native/Convolution.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.ops.autocast import to_half
from nanolint.memory.tensors.ops.views import contiguous
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.tensors.tracing import traced
from nanolint.memory.tensors.unknown import NotModelled
from nanolint.memory.tensors.work import of_convolution

if TYPE_CHECKING:
    from nanolint.memory.tensors.tensor import Tensor

BIAS = 2  # the place of it among what goes in


@traced
def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int] = 1,
    padding: int | tuple[int] = 0,
    dilation: int | tuple[int] = 1,
    groups: int = 1,
) -> Tensor:
    """``F.conv1d`` of (B, in, T), depthwise; what cuDNN takes for others is not known."""
    if not isinstance(padding, (int, tuple)):
        raise NotModelled(f"a convolution with padding {padding!r}")
    if groups != x.shape[-2] or groups == 1:  # aten's own kernels take depthwise ones alone
        raise NotModelled("what cuDNN takes for a convolution")
    shift = None if bias is None else to_half(bias)
    kernel = to_half(weight)
    source = to_half(x)
    step, pad, gap = (_one(each) for each in (stride, padding, dilation))
    length = (x.shape[-1] + 2 * pad - gap * (weight.shape[-1] - 1) - 1) // step + 1
    shape = (*x.shape[:-2], weight.shape[0], length)
    copies = contiguous(source), contiguous(kernel)
    out = empty(x.device, shape, source.dtype, x.role.made("convolution"))
    del copies
    flops = of_convolution(shape, kernel.shape)
    x.device.compute(source.dtype, flops)
    inputs = source, kernel, shift
    needs = [each is not None and each.requires_grad for each in inputs]
    roles = [None if each is None else each.role.gradient for each in inputs]
    shapes = [None if each is None else each.shape for each in inputs]

    def backward(g: Tensor, source: Tensor, kernel: Tensor) -> list[Tensor | None]:
        flow, copies = contiguous(g), (contiguous(source), contiguous(kernel))
        found: list[Tensor | None] = [None, None, None]
        for place in (1, 0, 2):
            shape, role = shapes[place], roles[place]
            if needs[place] and role and shape is not None:
                found[place] = empty(g.device, shape, g.dtype, role)
                g.device.compute(g.dtype, flops if place < BIAS else 0)
            if not place:
                flow = g
        del copies, flow
        return found

    return record(out, inputs, backward, source, kernel)


def _one(size: int | tuple[int]) -> int:
    return size if isinstance(size, int) else size[0]
