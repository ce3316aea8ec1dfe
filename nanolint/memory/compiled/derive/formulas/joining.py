"""Joining and repeating."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from nanolint.memory.compiled.derive.operations import POINTWISE
from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import promote
from nanolint.memory.tensors.layout import normalized
from nanolint.memory.tensors.ops.parts import sliced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.memory.compiled.derive.capture import Capture, Formulas
    from nanolint.memory.tensors.tensor import Tensor


def cat(t: Capture, tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """``aten.cat``: its gradients are slices."""
    first = tensors[0]
    along = normalized(dim, first.ndim)
    dtype = first.dtype
    for each in tensors:
        dtype = promote(dtype, each.dtype)
    sizes = [each.shape[along] for each in tensors]
    shape = (*first.shape[:along], sum(sizes), *first.shape[along + 1 :])
    role = first.role.made("concatenation")
    cost = 4 * len(tensors)
    out = t.make("cat", POINTWISE, tensors, shape, dtype, role, along, cost=cost)

    def backward(g: Tensor) -> list[Tensor | None]:
        starts = [0, *accumulate(sizes)]
        return [
            sliced(g, along, size, start=start) for size, start in zip(sizes, starts, strict=False)
        ]

    return record(out, tensors, backward)


FORMULAS: Formulas = {"cat": cat}
