"""The memory formats of images (c10/core/MemoryFormat.h): which dimension moves fastest."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nanolint.tensors.layout import contiguous_strides, is_contiguous
from nanolint.tensors.tensor import empty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor

Sizes: TypeAlias = "int | Sequence[int]"

LAST = (0, 2, 3, 1)  # channels last: the order of the dimensions


def of_each(size: Sizes, count: int) -> tuple[int, ...]:
    """A size for each of so many dimensions: of one number the same."""
    if isinstance(size, int):
        return (size,) * count
    return tuple(size) * (count if len(size) == 1 else 1)


def suggests_last(x: Tensor) -> bool:
    """``suggest_memory_format``: whether it lies as if its channels moved fastest."""
    if x.ndim != 4 or x.strides[1] == 0:
        return False
    least = 0
    for dim in reversed(LAST):
        size, stride = x.shape[dim], x.strides[dim]
        if size == 0 or stride < least or (dim == 0 and least == x.strides[1]):
            return False
        least = stride * size if size > 1 else stride
    return True


def in_format(x: Tensor, *, last: bool) -> Tensor:
    """``x.contiguous(memory_format=...)``: a copy, or ``x`` if it lies so."""
    if not last:
        return x if x.is_contiguous else empty(x.device, x.shape, x.dtype, x.role)
    shape, strides = (tuple(sizes[dim] for dim in LAST) for sizes in (x.shape, x.strides))
    if is_contiguous(shape, strides):
        return x
    return empty(x.device, x.shape, x.dtype, x.role, _strides(x.shape))


def empty_in(device: Device, shape: Shape, dtype: Dtype, role: Role, *, last: bool) -> Tensor:
    """A new tensor of a format."""
    return empty(device, shape, dtype, role, _strides(shape) if last else None)


def _strides(shape: Shape) -> Strides:
    inside = contiguous_strides(tuple(shape[dim] for dim in LAST))
    return inside[0], inside[3], inside[1], inside[2]
