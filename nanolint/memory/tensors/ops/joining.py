"""Joining, repeating and shifting (aten/src/ATen/native/TensorShape.cpp, PadNd.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import promote
from nanolint.memory.tensors.layout import normalized
from nanolint.memory.tensors.ops.views import (
    clone,
    contiguous,
    expand,
    flatten,
    narrow,
    reshape,
    unsqueeze,
)
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.tensors.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.memory.tensors.tensor import Tensor


@traced
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """``torch.cat``: gradients are views of the gradient."""
    first = tensors[0]
    along = normalized(dim, first.ndim)
    dtype = first.dtype
    for each in tensors:
        dtype = promote(dtype, each.dtype)
    sizes = [each.shape[along] for each in tensors]
    shape = (*first.shape[:along], sum(sizes), *first.shape[along + 1 :])
    out = empty(first.device, shape, dtype, first.role.made("concatenation"))

    def backward(g: Tensor) -> list[Tensor | None]:
        return [narrow(g, along, size) for size in sizes]

    return record(out, tensors, backward)


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """``torch.stack``."""
    return cat([unsqueeze(each, dim) for each in tensors], dim)


@traced
def repeat(x: Tensor, times: Sequence[int]) -> Tensor:
    """``x.repeat(*times)``: the gradient is summed over the copies."""
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


def repeat_interleave(x: Tensor, times: int, dim: int) -> Tensor:
    """``x.repeat_interleave(times, dim)``: each element by itself."""
    along = normalized(dim, x.ndim)
    wide = unsqueeze(x, along + 1)
    shape = (*x.shape[: along + 1], times, *x.shape[along + 1 :])
    return flatten(clone(expand(wide, shape)), along, along + 1)


@traced
def roll(x: Tensor) -> Tensor:
    """``x.roll``."""
    source = contiguous(x)
    out = empty(x.device, x.shape, x.dtype, x.role.made("rolled"))
    del source
    return record(out, (x,), lambda g: [roll(g)])


@traced
def pad(x: Tensor, padding: Sequence[int]) -> Tensor:
    """``F.pad`` with a number: ``padding`` is (before, after), the last dimension first."""
    shape = list(x.shape)
    for place in range(len(padding) // 2):
        shape[-1 - place] += padding[2 * place] + padding[2 * place + 1]
    out = empty(x.device, tuple(shape), x.dtype, x.role.made("padded"))
    before, role = x.shape, x.role.gradient
    return record(out, (x,), lambda g: [empty(g.device, before, g.dtype, role)])
