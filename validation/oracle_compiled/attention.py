"""Memory-efficient attention as the compiled table counts it, in place of the device's kernels.

Two things are simpler than on a card, as they are in nanolint's replay of compiled graphs: the two
seeds, which CUDA keeps on the host, count here with 512 bytes each; and the scratch memory of the
backward kernel is one float32 gradient of the queries, instead of tiles (half types), or nothing
(float32), besides the sums of grad * output.
"""

from __future__ import annotations

from typing import Any

import torch

Tensor = torch.Tensor


def install() -> torch.library.Library:
    """Put both kernels on the card, for as long as the result lives."""
    library = torch.library.Library("aten", "IMPL")
    name = "_scaled_dot_product_efficient_attention"
    library.impl(name, _forward, "CUDA", allow_override=True)
    library.impl(f"{name}_backward", _backward, "CUDA", allow_override=True)
    return library


def _forward(
    query: Tensor, _key: Tensor, _value: Tensor, _bias: Any, for_backward: bool, *_: Any, **__: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    batch, heads, tokens, _width = query.shape
    output = _heads_second(query)
    rows = -(-tokens // 32) * 32 if for_backward else 0
    sums = query.new_empty((batch, heads, rows), dtype=torch.float32)
    seed, offset = (query.new_empty((), dtype=torch.int64) for _ in range(2))
    return output, sums, seed, offset


def _backward(_grad: Tensor, query: Tensor, *_: Any, **__: Any) -> tuple[Tensor | None, ...]:
    grads = [_heads_second(query) for _ in range(3)]
    sums = query.new_empty(query.shape[:-1], dtype=torch.float32)
    scratch = None
    if query.dtype != torch.float32:
        scratch = query.new_empty(query.shape, dtype=torch.float32)
    del sums, scratch
    return (*grads, None)


def _heads_second(like: Tensor) -> Tensor:
    """The kernels write (batch, tokens, heads, width) and hand back a transposed view."""
    batch, heads, tokens, width = like.shape
    return like.new_empty((batch, tokens, heads, width)).transpose(1, 2)
