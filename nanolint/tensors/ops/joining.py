"""Joining, repeating and shifting (aten/src/ATen/native/TensorShape.cpp, PadNd.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors import refusing
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import promote
from nanolint.tensors.layout import like_strides, normalized
from nanolint.tensors.ops.formats import empty_in, suggests_last
from nanolint.tensors.ops.parts import narrow, sliced
from nanolint.tensors.ops.pointwise import sub
from nanolint.tensors.ops.views import (
    clone,
    contiguous,
    expand,
    flatten,
    reshape,
    sizes_of,
    unsqueeze,
)
from nanolint.tensors.tensor import Rows, Tensor, empty
from nanolint.tensors.tracing import traced, traced_after
from nanolint.tensors.unknown import DataDependent, NotModelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.dtypes import Number


@traced_after(refusing.joined)
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """``torch.cat``: gradients are views of the gradient. Of images whose channels move fastest it
    makes such (``compute_output_memory_format``)."""
    first = next((each for each in tensors if each.shape != (0,)), tensors[0])
    along = normalized(dim, first.ndim)
    dtype = first.dtype
    for each in tensors:
        dtype = promote(dtype, each.dtype)
    sizes = [each.shape[along] if each.ndim == first.ndim else 0 for each in tensors]
    shape = (*first.shape[:along], sum(sizes), *first.shape[along + 1 :])
    last = all(map(suggests_last, tensors))
    out = empty_in(first.device, shape, dtype, first.role.made("concatenation"), last=last)

    def backward(g: Tensor) -> list[Tensor | None]:
        return [sliced(g, along, size) for size in sizes]

    return record(out, tensors, backward)


def stack(tensors: Sequence[Tensor] | Rows, dim: int = 0) -> Tensor:
    """``torch.stack``."""
    if isinstance(tensors, Rows):
        one = unsqueeze(tensors.row, dim)
        along = normalized(dim, one.ndim)
        shape = (*one.shape[:along], tensors.count, *one.shape[along + 1 :])
        return empty(one.device, shape, one.dtype, one.role.made("concatenation"))
    return stacked(tensors, dim)


@traced_after(refusing.stacked)
def stacked(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """``torch.stack`` of tensors."""
    return cat([unsqueeze(each, dim) for each in tensors], dim)


def diff(
    x: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """``torch.diff``: neighbours, subtracted."""
    if n != 1:
        raise NotModelled("diff of a higher order")
    parts = [each for each in (prepend, x, append) if each is not None]
    whole = x if len(parts) == 1 else cat(parts, dim)
    length = whole.shape[dim] - 1
    return sub(narrow(whole, dim, 1, length), narrow(whole, dim, 0, length))


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """``torch.hstack``: along the second dimension, of vectors along the first."""
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """``torch.vstack``."""
    return cat([unsqueeze(each, 0) if each.ndim == 1 else each for each in tensors], 0)


@traced
def repeat(x: Tensor, *sizes: int | Sequence[int]) -> Tensor:
    """``x.repeat(*sizes)``: the gradient is summed over the copies."""
    times = sizes_of(sizes)
    whole = (1,) * (len(times) - x.ndim) + x.shape
    shape = tuple(size * each for size, each in zip(whole, times, strict=True))
    out = empty(x.device, shape, x.dtype, x.role.made("repeated"))
    before, role = x.shape, x.role.gradient
    repeated = any(each != 1 for each in times)

    def backward(g: Tensor) -> list[Tensor | None]:
        if not repeated:
            return [reshape(g, before)]
        return [empty(g.device, before, g.dtype, role)]

    return record(out, (x,), backward)


def tile(x: Tensor, *dims: int | Sequence[int]) -> Tensor:
    """``torch.tile``: ``repeat``, with ones for the dimensions in front."""
    times = sizes_of(dims)
    return repeat(x, (1,) * (x.ndim - len(times)) + times)


def repeat_interleave(
    x: Tensor, repeats: int | Tensor, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """``x.repeat_interleave(repeats, dim)``: each element by itself.

    Raises DataDependent for a tensor of repeats: the shape follows from its values.
    """
    if isinstance(repeats, Tensor):
        raise DataDependent("repeat_interleave by a tensor")
    if dim is None:
        return repeat_interleave(flatten(x), repeats, 0)
    along = normalized(dim, x.ndim)
    wide = unsqueeze(x, along + 1)
    shape = (*x.shape[: along + 1], repeats, *x.shape[along + 1 :])
    return flatten(clone(expand(wide, shape)), along, along + 1)


@traced
def roll(x: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] = ()) -> Tensor:
    """``x.roll``."""
    source = contiguous(x)
    out = empty(x.device, x.shape, x.dtype, x.role.made("rolled"))
    del source
    return record(out, (x,), lambda g: [roll(g, 1)])


@traced
def flip(x: Tensor, *dims: int | Sequence[int]) -> Tensor:
    """``x.flip``."""
    strides = like_strides(x.shape, x.strides)
    out = empty(x.device, x.shape, x.dtype, x.role.made("flipped"), strides)
    return record(out, (x,), lambda g: [flip(g)])


@traced
def pad(
    x: Tensor, pad: Sequence[int], mode: str = "constant", value: Number | None = None
) -> Tensor:
    """``F.pad`` with a number: ``pad`` is (before, after), the last dimension first."""
    if mode != "constant":
        raise NotModelled(f"padding by mode {mode!r}")
    shape = list(x.shape)
    for place in range(len(pad) // 2):
        shape[-1 - place] += pad[2 * place] + pad[2 * place + 1]
    out = empty(x.device, tuple(shape), x.dtype, x.role.made("padded"))
    before, role = x.shape, x.role.gradient
    return record(out, (x,), lambda g: [empty(g.device, before, g.dtype, role)])


def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str = "ij") -> list[Tensor]:
    """``torch.meshgrid``: views, repeated."""
    found = [each for one in tensors for each in ([one] if isinstance(one, Tensor) else one)]
    sizes = tuple(each.numel for each in found)
    views = []
    for place, each in enumerate(found):
        shape = tuple(size if place == dim else 1 for dim, size in enumerate(sizes))
        views.append(expand(reshape(each, shape), sizes))
    return views
