"""Writing into chosen elements of a tensor (aten/src/ATen/native/TensorAdvancedIndexing.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tensors.dtypes import BOOL, UINT8
from nanolint.tensors.ops.creation import filled
from nanolint.tensors.ops.indexing import (
    index_add,
    index_adding,
    index_copy,
    index_copying,
    put,
    scatter,
    scatter_add,
    scattering,
    taken,
    viewed,
)
from nanolint.tensors.ops.inplace import copy_, fill_, masked_fill_, written
from nanolint.tensors.tensor import Tensor
from nanolint.tensors.unknown import DataDependent, NotModelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.dtypes import Number
    from nanolint.tensors.ops.pointwise import Operand


def scatter_(
    x: Tensor, dim: int, index: Tensor, src: Operand | None = None, *, value: Number = 0
) -> Tensor:
    """``x.scatter_(dim, index, src)``."""
    given = value if src is None else src
    inputs, backward = scattering(x, dim, given, adds=False)
    return written(x, inputs, backward, index, value=lambda: scatter(x.detach(), dim, index, given))


def scatter_add_(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``x.scatter_add_(dim, index, src)``."""
    inputs, backward = scattering(x, dim, src, adds=True)
    return written(
        x, inputs, backward, index, value=lambda: scatter_add(x.detach(), dim, index, src)
    )


def index_add_(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """``x.index_add_(dim, index, source)``."""
    inputs, backward = index_adding(x, dim, source, alpha)
    return written(
        x, inputs, backward, index, source,
        value=lambda: index_add(x.detach(), dim, index, source),
    )  # fmt: skip


def index_copy_(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``x.index_copy_(dim, index, source)``."""
    inputs, backward = index_copying(x, dim, source)
    return written(
        x, inputs, backward, index, source,
        value=lambda: index_copy(x.detach(), dim, index, source),
    )  # fmt: skip


def index_put_(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """``x.index_put_(indices, values)``."""
    if any(each is not None and each.dtype in (BOOL, UINT8) for each in indices):
        raise DataDependent("setting elements by a mask")
    if accumulate:
        raise NotModelled("index_put_ that adds")
    needs_x, needs_values = x.requires_grad, values.requires_grad
    places = [place for place, each in enumerate(indices) if each is not None]

    def backward(g: Tensor, *chosen: Tensor) -> list[Tensor | None]:
        every: list[Tensor | None] = [None] * len(indices)
        for place, each in zip(places, chosen, strict=True):
            every[place] = each
        of_values = None
        if needs_values:
            of_values = taken(g, every)
        of_x = None
        if needs_x:
            of_x = filled(g)
        return [of_x, of_values]

    saved = [each for each in indices if each is not None]
    return written(x, (x, values), backward, *saved, value=lambda: put(x.detach(), indices, values))


def setitem(x: Tensor, index: Any, value: Operand) -> None:
    """``x[index] = value``: what ``copy_``, ``fill_`` and ``index_put_`` do to the part."""
    if isinstance(index, Tensor) and index.dtype in (BOOL, UINT8):
        if isinstance(value, Tensor) and value.numel != 1:
            raise NotModelled("setting elements by a mask")
        masked_fill_(x, index, value)
        return
    part, indices = viewed(x, index)
    if any(each is not None for each in indices):
        _index_put(part, indices, value)
    elif isinstance(value, Tensor):
        copy_(part, value)
    else:
        fill_(part, value)


def _index_put(x: Tensor, indices: Sequence[Tensor | None], value: Operand) -> None:
    if isinstance(value, Tensor):
        index_put_(x, indices, value)
    elif x.device.grad_enabled and x.requires_grad:
        raise NotModelled("setting elements by index of a trainable tensor")
