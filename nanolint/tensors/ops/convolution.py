"""Convolutions (aten/src/ATen/native/Convolution.cpp, cudnn/ConvShared.cpp).

Depthwise ones are aten's own kernels. All others are cuDNN's, which takes memory for itself while
it runs: how much its heuristics decide on the card, and nobody knows without it. That is assumed to
be none, and said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import FLOAT16
from nanolint.tensors.ops.conversion import to_half
from nanolint.tensors.ops.formats import empty_in, in_format, of_each, suggests_last
from nanolint.tensors.ops.sums import reduction
from nanolint.tensors.tracing import traced
from nanolint.tensors.unknown import NotModelled
from nanolint.tensors.work import of_convolution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.ops.formats import Sizes
    from nanolint.tensors.tensor import Tensor

BIAS = 2  # the place of it among what goes in
CUDNN = "the number leaves out cuDNN's own memory for convolutions"


@traced
def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """``F.conv1d`` of (B, in, T)."""
    return _convolved(x, weight, bias, (stride, padding, dilation), groups)


@traced
def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """``F.conv2d`` of (B, in, H, W)."""
    return _convolved(x, weight, bias, (stride, padding, dilation), groups)


@traced
def conv_transpose2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """``F.conv_transpose2d`` of (B, in, H, W), with weights (in, out of a group, height, width)."""
    _require_batch(x, weight)
    steps, pads, more, gaps = (
        of_each(size, weight.ndim - 2) for size in (stride, padding, output_padding, dilation)
    )
    lengths = zip(x.shape[2:], weight.shape[2:], steps, pads, more, gaps, strict=True)
    space = tuple(
        (size - 1) * step - 2 * pad + gap * (width - 1) + rest + 1
        for size, width, step, pad, rest, gap in lengths
    )
    return _run(x, weight, bias, (x.shape[0], weight.shape[1] * groups, *space), by_cudnn=True)


def _convolved(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    how: tuple[Sizes, Sizes | str, Sizes],
    groups: int,
) -> Tensor:
    _require_batch(x, weight)
    stride, padding, dilation = how
    width = weight.ndim - 2
    steps, gaps = of_each(stride, width), of_each(dilation, width)
    pads = _padding(padding, weight.shape[2:], gaps)
    lengths = zip(x.shape[2:], weight.shape[2:], steps, pads, gaps, strict=True)
    space = tuple(
        (size + 2 * pad - gap * (reach - 1) - 1) // step + 1
        for size, reach, step, pad, gap in lengths
    )
    is_depthwise = groups > 1 and groups == x.shape[1]
    # ``use_cudnn_depthwise``: of float16 cuDNN may take those of two dimensions.
    is_half = x.dtype is FLOAT16 or x.device.half is FLOAT16
    by_cudnn = not is_depthwise or (width > 1 and is_half)
    return _run(
        x, weight, bias, (x.shape[0], weight.shape[0], *space), by_cudnn, weight_first=is_depthwise
    )


def _run(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    shape: tuple[int, ...],
    by_cudnn: bool,
    *,
    weight_first: bool = False,
) -> Tensor:
    """A convolution with its gradients; that of the weight is made first in aten's own kernels."""
    if by_cudnn:
        x.device.tape.assume(CUDNN)
    shift = None if bias is None else to_half(bias)
    kernel = to_half(weight)
    source = to_half(x)
    last = not weight_first and (suggests_last(source) or suggests_last(kernel))
    copies = [in_format(source, last=last)]
    if weight_first:
        copies.append(in_format(kernel, last=False))
    out = empty_in(x.device, shape, source.dtype, x.role.made("convolution"), last=last)
    if not weight_first:
        copies.append(in_format(kernel, last=last))
    del copies
    flops = of_convolution(shape, kernel.shape)
    x.device.compute(source.dtype, flops)
    inputs = source, kernel, shift
    needs = [each is not None and each.requires_grad for each in inputs]
    roles = [None if each is None else each.role.gradient for each in inputs]
    shapes = [None if each is None else each.shape for each in inputs]
    order = (1, 0, 2) if weight_first else (0, 1, 2)

    def backward(g: Tensor, source: Tensor, kernel: Tensor) -> list[Tensor | None]:
        flow = in_format(g, last=last)
        copy = in_format(source, last=last) if needs[1] else None
        found: list[Tensor | None] = [None, None, None]
        for place in order:
            shape, role = shapes[place], roles[place]
            if not needs[place] or role is None or shape is None:
                continue
            if place == BIAS and not weight_first:
                copy = None
            before = in_format(kernel, last=False) if place == 0 and weight_first else None
            is_last = last and place < BIAS
            found[place] = empty_in(g.device, shape, g.dtype, role, last=is_last)
            del before
            if place == 0 and weight_first:
                flow = g
            elif place == 0:
                in_format(kernel, last=last)
            elif place == BIAS:
                reduction(flow, (0, *range(2, flow.ndim)))
            g.device.compute(g.dtype, flops if place < BIAS else 0)
        del copy, flow
        return found

    return record(out, inputs, backward, source, kernel)


def _require_batch(x: Tensor, weight: Tensor) -> None:
    if x.ndim != weight.ndim:
        raise NotModelled(f"a convolution of {x.ndim} dimensions by {weight.ndim}")


def _padding(padding: Sizes | str, kernel: Sequence[int], gaps: Sequence[int]) -> tuple[int, ...]:
    if not isinstance(padding, str):
        return of_each(padding, len(kernel))
    if padding == "valid":
        return (0,) * len(kernel)
    whole = [gap * (reach - 1) for gap, reach in zip(gaps, kernel, strict=True)]
    if padding != "same" or any(each % 2 for each in whole):
        raise NotModelled(f"a convolution with padding {padding!r}")
    return tuple(each // 2 for each in whole)
