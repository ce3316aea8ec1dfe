"""Sums of products over chosen dimensions (aten/src/ATen/native/Linear.cpp)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.tensors.dtypes import promote
from nanolint.tensors.ops.linear import mm, plain_matmul
from nanolint.tensors.ops.views import cast, permute, reshape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.tensor import Tensor


def inner(x: Tensor, other: Tensor) -> Tensor:
    """``torch.inner``."""
    if x.ndim == other.ndim == 1:
        return dot(x, other)
    return tensordot(x, other, ([-1], [-1]))


def tensordot(x: Tensor, other: Tensor, dims: int | Sequence[Sequence[int]] = 2) -> Tensor:
    """``torch.tensordot``: one product of matrices, under autocast in the wider type."""
    if x.device.half is not None:
        wide = promote(x.dtype, other.dtype)
        with x.device.uncast():
            return tensordot(cast(x, wide), cast(other, wide), dims)
    if isinstance(dims, int):
        over = list(range(x.ndim - dims, x.ndim)), list(range(dims))
    else:
        over = [each % x.ndim for each in dims[0]], [each % other.ndim for each in dims[1]]
    left = [each for each in range(x.ndim) if each not in over[0]]
    right = [each for each in range(other.ndim) if each not in over[1]]
    rows, columns = [x.shape[each] for each in left], [other.shape[each] for each in right]
    between = prod(x.shape[each] for each in over[0])
    first = reshape(permute(x, (*left, *over[0])), (prod(rows), between))
    second = reshape(permute(other, (*over[1], *right)), (between, prod(columns)))
    return reshape(mm(first, second), (*rows, *columns))


def dot(x: Tensor, tensor: Tensor) -> Tensor:
    """``torch.dot`` of two vectors, which autocast leaves alone."""
    return plain_matmul(x, tensor)
