"""Rows by index: gathered inside kernels, added back by atomic sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.derive.operations import CALL, POINTWISE
from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.layout import normalized

if TYPE_CHECKING:
    from nanolint.memory.compiled.derive.capture import Capture, Formulas
    from nanolint.memory.tensors.role import Role
    from nanolint.memory.tensors.tensor import Tensor


def embedding(
    t: Capture, index: Tensor, weight: Tensor, *_options: object, role: Role | None = None
) -> Tensor:
    """``aten.embedding``; backward ``embedding_dense_backward``, an atomic sum into zeros."""
    shape = (*index.shape, weight.shape[1])
    label = role or weight.role.made("embeddings")
    out = t.make("embedding", POINTWISE, (weight, index), shape, weight.dtype, label, cost=5)
    rows, gradient = weight.shape, weight.role.gradient

    def backward(g: Tensor, index: Tensor) -> list[Tensor | None]:
        return [t.make("index_put", CALL, (index, g), rows, g.dtype, gradient)]

    return record(out, (weight,), backward, index)


def gather(t: Capture, x: Tensor, _dim: int, index: Tensor) -> Tensor:
    """``aten.gather``; backward ``scatter_add`` into zeros."""
    role = x.role.made("gathered")
    out = t.make("gather", POINTWISE, (x, index), index.shape, x.dtype, role, cost=4)
    shape, gradient = x.shape, x.role.gradient

    def backward(g: Tensor, index: Tensor) -> list[Tensor | None]:
        return [t.make("index_put", CALL, (index, g), shape, g.dtype, gradient)]

    return record(out, (x,), backward, index)


def index_select(t: Capture, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """``aten.index_select``; backward ``index_add`` into zeros."""
    along = normalized(dim, x.ndim)
    shape = (*x.shape[:along], index.numel, *x.shape[along + 1 :])
    role = x.role.made("selected")
    out = t.make("embedding", POINTWISE, (x, index), shape, x.dtype, role, along, cost=5)
    before, gradient = x.shape, x.role.gradient

    def backward(g: Tensor, index: Tensor) -> list[Tensor | None]:
        return [t.make("index_put", CALL, (index, g), before, g.dtype, gradient)]

    return record(out, (x,), backward, index)


FORMULAS: Formulas = {"embedding": embedding, "gather": gather, "index_select": index_select}
