"""Parts of a tensor: slices, single indices, diagonals, windows, and what it splits into.

They are views (nanolint/tensors/ops/views.py), whose gradients are padded with zeros. The
formulas are those of tools/autograd/derivatives.yaml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record_all
from nanolint.tensors.dtypes import INT64
from nanolint.tensors.layout import normalized
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.creation import create
from nanolint.tensors.ops.views import as_view
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced, traced_after
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor


def narrow(x: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``x.narrow(dim, start, length)``."""
    return sliced(x, dim, length, start=start)


def sliced(x: Tensor, dim: int, length: int, step: int = 1, start: int | None = None) -> Tensor:
    """``x[..., start:start + length * step:step]``; the gradient is padded with zeros.

    The start matters only to a tracer, which takes two unknown places for different.
    """
    dim = normalized(dim, x.ndim)
    whole = x.shape
    shape = (*whole[:dim], length, *whole[dim + 1 :])
    strides = (*x.strides[:dim], x.strides[dim] * step, *x.strides[dim + 1 :])
    how = (ops.SLICE, dim, start, step)
    return as_view(x, how, shape, strides, lambda g: [_zeros(g, whole, how)], x.role.reshaped)


def select(x: Tensor, dim: int, index: int) -> Tensor:
    """``x[..., index]``."""
    if not x.ndim:
        raise Refused(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number",
            IndexError,
        )
    dim, whole = normalized(dim, x.ndim), x.shape
    if not -whole[dim] <= index < whole[dim]:
        size = whole[dim]
        raise Refused(
            f"index {index} is out of bounds for dimension {dim} with size {size}", IndexError
        )
    shape = (*whole[:dim], *whole[dim + 1 :])
    strides = (*x.strides[:dim], *x.strides[dim + 1 :])
    how = (ops.SELECT, dim, index + whole[dim] if index < 0 else index)
    return as_view(x, how, shape, strides, lambda g: [_zeros(g, whole, how)], x.role.reshaped)


def _sums_up(x: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> None:
    sizes, along = split_size_or_sections, normalized(dim, x.ndim)
    if not isinstance(sizes, int) and sum(sizes) != x.shape[along]:
        raise Refused(
            f"split_with_sizes expects split_sizes to sum exactly to {x.shape[along]} (input "
            f"tensor's size at dimension {along}), but got split_sizes={list(sizes)}"
        )


@traced_after(_sums_up)
def split(x: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> Sequence[Tensor]:
    """``x.split(sizes, dim)``: views whose gradients are concatenated."""
    dim, whole, sizes = normalized(dim, x.ndim), x.shape, split_size_or_sections
    if isinstance(sizes, int):
        full, rest = divmod(whole[dim], sizes)
        sizes = [sizes] * full + ([rest] if rest else [])
    shapes = [(*whole[:dim], size, *whole[dim + 1 :]) for size in sizes]
    outs = [x.view(shape, x.strides, x.role.reshaped) for shape in shapes]

    def backward(*gradients: Tensor | None) -> list[Tensor | None]:
        given = next(each for each in gradients if each is not None)
        zeros = [
            empty(given.device, shape, given.dtype, given.role)
            for each, shape in zip(gradients, shapes, strict=True)
            if each is None
        ]
        return [_joined(given, zeros, whole, role)]

    role = x.role.gradient
    return record_all(outs, (x,), backward)


def chunk(x: Tensor, chunks: int, dim: int = 0) -> Sequence[Tensor]:
    """``x.chunk(chunks, dim)``: at most so many parts, all but the last alike."""
    size = x.shape[normalized(dim, x.ndim)]
    return split(x, max(1, -(-size // chunks)), dim)


@traced
def unbind(x: Tensor, dim: int = 0) -> Sequence[Tensor]:
    """``x.unbind(dim)``: a view for each index, whose gradients are stacked."""
    dim, whole = normalized(dim, x.ndim), x.shape
    shape = (*whole[:dim], *whole[dim + 1 :])
    strides = (*x.strides[:dim], *x.strides[dim + 1 :])
    outs = [x.view(shape, strides, x.role.reshaped) for _ in range(whole[dim])]
    role = x.role.gradient

    def backward(*gradients: Tensor | None) -> list[Tensor | None]:
        given = next(each for each in gradients if each is not None)
        zeros = [
            empty(given.device, (), given.dtype, given.role)  # one zero, repeated
            for each in gradients
            if each is None
        ]
        return [_joined(given, zeros, whole, role)]

    return record_all(outs, (x,), backward)


def as_strided(x: Tensor, size: Shape, stride: Strides, storage_offset: int = 0) -> Tensor:
    """``x.as_strided``: the gradient goes into zeros."""
    shape, strides, whole = tuple(size), tuple(stride), x.shape
    how = (ops.AS_STRIDED, shape, strides, storage_offset)
    return as_view(x, how, shape, strides, lambda g: [_zeros(g, whole, how)], x.role.reshaped)


def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """``x.diagonal``."""
    first, second = normalized(dim1, x.ndim), normalized(dim2, x.ndim)
    rest = [dim for dim in range(x.ndim) if dim not in (first, second)]
    rows, columns = x.shape[first], x.shape[second]
    length = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    shape = (*(x.shape[dim] for dim in rest), length)
    strides = (*(x.strides[dim] for dim in rest), x.strides[first] + x.strides[second])
    whole, how = x.shape, (ops.DIAGONAL, offset, first, second)
    return as_view(x, how, shape, strides, lambda g: [_zeros(g, whole, how)], x.role.reshaped)


def unfold(x: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """``x.unfold``: windows of ``size``, after the other dimensions."""
    dim, whole = normalized(dimension, x.ndim), x.shape
    count = (whole[dim] - size) // step + 1
    shape = (*whole[:dim], count, *whole[dim + 1 :], size)
    strides = (*x.strides[:dim], x.strides[dim] * step, *x.strides[dim + 1 :], x.strides[dim])
    how = (ops.UNFOLD, dim, size, step)

    def backward(g: Tensor) -> list[Tensor | None]:
        found = _zeros(g, whole, how)
        places = create(g.device, (whole[dim],), INT64, g.role)
        del places
        return [found]

    return as_view(x, how, shape, strides, backward, x.role.reshaped)


def _joined(given: Tensor, _zeros: list[Tensor], whole: Shape, role: Role) -> Tensor:
    """The concatenated gradients; zeros for outputs that nobody used live beside it."""
    return empty(given.device, whole, given.dtype, role)


@traced
def _zeros(g: Tensor, shape: Shape, _how: tuple[object, ...]) -> Tensor:
    """The gradient of a part, and zeros around it."""
    return empty(g.device, shape, g.dtype, g.role.reshaped)
