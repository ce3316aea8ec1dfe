"""Pooling and resizing of images (aten/src/ATen/native/cuda/DilatedMaxPool2d.cu, AveragePool2d.cu,
AdaptiveAveragePooling.cu, UpSampleNearest2d.cu, UpSampleBilinear2d.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import INT64
from nanolint.tensors.ops.conversion import to_float32
from nanolint.tensors.ops.formats import empty_in, in_format, of_each, suggests_last
from nanolint.tensors.ops.pointwise import mul
from nanolint.tensors.ops.reductions import mean
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.ops.formats import Sizes
    from nanolint.tensors.tensor import Tensor

MAXIMUM, MEAN = ("maximum", "places of maxima"), "mean"
FEW_CHANNELS = 4  # of fewer the kernel for channels last is not taken
RESIZED = frozenset({"nearest", "nearest-exact", "bilinear", "bicubic"})


@traced
def max_pool2d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """``F.max_pool2d``: keeps each maximum and its place."""
    if return_indices:
        raise NotModelled("max_pool2d that returns its indices")
    sizes = _pooled(x, kernel_size, stride, padding, dilation, ceil_mode)
    return _reduced(x, sizes, *MAXIMUM)


@traced
def adaptive_max_pool2d(x: Tensor, output_size: Sizes, return_indices: bool = False) -> Tensor:
    """``F.adaptive_max_pool2d``."""
    if return_indices:
        raise NotModelled("adaptive_max_pool2d that returns its indices")
    return _reduced(x, _pair(output_size), *MAXIMUM)


def _reduced(x: Tensor, sizes: Sequence[int], what: str, places: str = "") -> Tensor:
    """What is made of the parts of x, and with it where each was, if that is kept."""
    last = suggests_last(x)
    source = in_format(x, last=last)
    shape = (*x.shape[:-2], *sizes)
    out = empty_in(x.device, shape, x.dtype, x.role.made(what), last=last)
    kept = [empty_in(x.device, shape, INT64, x.role.made(places), last=last)] if places else []
    del source
    return _saving(out, x, *kept)


def _saving(out: Tensor, x: Tensor, *others: Tensor) -> Tensor:
    """A result of which the backward pass needs x, and gives it one gradient."""
    role = x.role.gradient

    def backward(g: Tensor, x: Tensor, *_: Tensor) -> list[Tensor | None]:
        last = suggests_last(x)
        flow, source = in_format(g, last=last), in_format(x, last=last)
        made = empty_in(g.device, x.shape, x.dtype, role, last=last)
        del flow, source
        return [made]

    return record(out, (x,), backward, x, *others)


@traced
def avg_pool2d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """``F.avg_pool2d``."""
    return _reduced(x, _pooled(x, kernel_size, stride, padding, 1, ceil_mode), MEAN)


@traced
def adaptive_avg_pool2d(x: Tensor, output_size: Sizes) -> Tensor:
    """``F.adaptive_avg_pool2d``: to one element it is a mean."""
    sizes = _pair(output_size)
    return mean(x, (-1, -2), keepdim=True) if tuple(sizes) == (1, 1) else _reduced(x, sizes, MEAN)


@traced
def interpolate(
    x: Tensor,
    size: Sizes | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """``F.interpolate`` of images; float32 under autocast."""
    if mode not in RESIZED or antialias or x.ndim != 4:
        raise NotModelled(f"interpolate by {mode!r}")
    if size is not None:
        sizes = _pair(size)
    elif isinstance(scale_factor, (int, float)):
        sizes = tuple(int(each * scale_factor) for each in x.shape[-2:])
    else:
        pairs = zip(x.shape[-2:], scale_factor or (1, 1), strict=True)
        sizes = tuple(int(each * by) for each, by in pairs)
    wide = to_float32(x)
    last = suggests_last(wide)
    if last and x.shape[1] < FEW_CHANNELS:
        raise NotModelled("interpolate of few channels that move fastest")
    source = in_format(wide, last=last)
    shown = (*x.shape[:-2], *sizes)
    out = empty_in(x.device, shown, wide.dtype, x.role.made("resized"), last=last)
    del source
    role, shape = x.role.gradient, x.shape

    def backward(g: Tensor) -> list[Tensor | None]:
        last = suggests_last(g)
        flow = in_format(g, last=last)
        made = empty_in(g.device, shape, g.dtype, role, last=last)
        del flow
        return [made]

    return record(out, (wide,), backward)


@traced
def dropout2d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """``F.dropout2d``: a product with a number for each channel (native/Dropout.cpp)."""
    if inplace:
        raise NotModelled("dropout2d in place")
    if not training or p == 0:
        return x
    chosen = (*x.shape[:2], *(1 for _ in x.shape[2:]))
    return mul(x, empty(x.device, chosen, x.dtype, x.role.made("dropped channels")))


def _pooled(
    x: Tensor,
    kernel: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> tuple[int, ...]:
    """aten/src/ATen/native/Pool.h, ``pooling_output_shape``."""
    steps = _pair(kernel if stride is None or stride == () else stride)
    found = []
    for size, reach, step, pad, gap in zip(
        x.shape[-2:], _pair(kernel), steps, _pair(padding), _pair(dilation), strict=True
    ):
        rest = size + 2 * pad - gap * (reach - 1) - 1
        length = (rest + (step - 1 if ceil_mode else 0)) // step + 1
        if ceil_mode and (length - 1) * step >= size + pad:
            length -= 1
        found.append(length)
    return tuple(found)


def _pair(size: Sizes) -> tuple[int, ...]:
    found = of_each(size, 2)
    if None in found:
        raise NotModelled("a size that stays as it is")
    return found
