"""Rows of a table (aten/src/ATen/native/Embedding.cpp, cuda/Embedding.cu and
cuda/EmbeddingBackwardKernel.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.tape import Component
from nanolint.tape.torch import EMBEDDING_ADDS_IN_PLACE_SINCE, EMBEDDING_SORT_TOKENS
from nanolint.tensors import refusing
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import FLOAT32, INT64
from nanolint.tensors.ops.sums import radix_sort_bytes, scan_bytes, unique_bytes
from nanolint.tensors.ops.views import contiguous, reshape
from nanolint.tensors.role import role as role_of
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced_after
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from nanolint.tensors.device import Card
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor

SCRATCH = role_of("embedding backward scratch", Component.GRADIENTS)
ROWS_PER_PART = 10  # NROWS_PER_THREAD: of the indices of one row, as many as a warp adds up
WARP, BLOCK = 32, 1024
BLOCKS_EACH = 4  # MAX_ATOMIC_ACCUM_BLOCKS_PER_SM


@traced_after(refusing.rows_of_table)
def embedding(
    index: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
    *,
    role: Role | None = None,
) -> Tensor:
    """``F.embedding``: a row (width) of weight (rows, width) for each index.

    Raises NotModelled for sparse gradients, and for rows that are scaled down before, Refused for
    indices that lie elsewhere than the rows, or are no whole numbers of 32 or 64 bits.
    """
    if sparse or max_norm is not None:
        raise NotModelled("a sparse gradient" if sparse else "max_norm")
    width = weight.shape[1]
    flat = index if index.ndim == 1 else reshape(index, (index.numel,))
    out = empty(
        index.device, (*index.shape, width), weight.dtype, role or weight.role.made("embeddings")
    )
    del flat
    rows, gradient = weight.shape[0], weight.role.gradient

    def backward(g: Tensor, index: Tensor) -> list[Tensor | None]:
        return [_gradient(g, index, rows, gradient)]

    return record(out, (weight,), backward, index)


def _gradient(g: Tensor, index: Tensor, rows: int, role: Role) -> Tensor:
    """``embedding_dense_backward``: few indices are added row by row, many are sorted first."""
    device, count = g.device, index.numel
    copies = contiguous(index), contiguous(g)
    width = g.shape[-1]
    if count <= EMBEDDING_SORT_TOKENS:
        made = empty(device, (rows, width), g.dtype, role)
        del copies
        return made

    def scratch(nbytes: int) -> object:
        return device.alloc(nbytes, SCRATCH.label, SCRATCH.component)

    ids = INT64.itemsize * count
    order = [scratch(ids), scratch(ids)]
    counter = scratch(ids)
    sorting = scratch(radix_sort_bytes(count, rows, device.tuned_for, device.release))
    del sorting, counter
    made = empty(device, (rows, width), g.dtype, role)
    segments = min(count, rows)
    partial = count // ROWS_PER_PART + segments
    order += [scratch(ids), scratch(8)]
    unique = [scratch(ids), scratch(unique_bytes(count, device.tuned_for, device.release))]
    del unique
    order += [scratch(8 * segments), scratch(8 * segments)]
    scratch(scan_bytes(segments, device.release))
    order += [scratch(8), scratch(8 * partial)]
    is_new = device.release >= EMBEDDING_ADDS_IN_PLACE_SINCE
    if is_new and device.asked.ask(_adds_in_place, segments, partial, width):
        order += [scratch(8 * partial)]
        if g.dtype.itemsize < FLOAT32.itemsize:
            order += [scratch(FLOAT32.itemsize * rows * width)]
    else:
        order += [scratch(FLOAT32.itemsize * partial * width)]
    return made


def _adds_in_place(card: Card, segments: int, partial: int, width: int) -> bool:
    """``use_fused_kernel``: whether the rows alone would leave the card idle, and each has many
    indices."""
    features = -(-width // WARP) * WARP
    blocks = -(-segments * features // min(features, BLOCK))
    return blocks < BLOCKS_EACH * card.multiprocessors and partial > 4 * blocks
