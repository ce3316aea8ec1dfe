"""Elements by index (aten/src/ATen/native/TensorAdvancedIndexing.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.layout import normalized
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.tensors.tracing import traced

if TYPE_CHECKING:
    from nanolint.memory.tensors.tensor import Tensor


@traced
def gather(x: Tensor, index: Tensor) -> Tensor:
    """``x.gather(dim, index)``: the gradient is scattered into zeros."""
    out = empty(x.device, index.shape, x.dtype, x.role.made("gathered"))
    shape, role = x.shape, x.role.gradient

    def backward(g: Tensor, _index: Tensor) -> list[Tensor | None]:
        return [empty(g.device, shape, g.dtype, role)]

    return record(out, (x,), backward, index)


@traced
def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """``x.index_select(dim, index)``: the gradient is added into zeros."""
    along = normalized(dim, x.ndim)
    shape = (*x.shape[:along], index.numel, *x.shape[along + 1 :])
    out = empty(x.device, shape, x.dtype, x.role.made("selected"))
    before, role = x.shape, x.role.gradient

    def backward(g: Tensor, _index: Tensor) -> list[Tensor | None]:
        return [empty(g.device, before, g.dtype, role)]

    return record(out, (x,), backward, index)
