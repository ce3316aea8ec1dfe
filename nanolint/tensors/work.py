"""How many floating-point operations matrix products take, as torch/utils/flop_counter.py counts.

A multiplication and an addition are two. Attention is counted in full, causal or not, and its
backward pass with the scores that its kernels compute again. Of a convolution in groups each
gradient is counted like the convolution; there flop_counter.py counts all pairs of channels. What
is done to elements is not counted, nor products of vectors.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.tensors.layout import Shape


def of_product(out: Shape, inner: int) -> int:
    """Of a product, or a batch of them: each element of ``out`` is a sum of ``inner`` products."""
    return 2 * prod(out) * inner


def of_attention(q: Shape, k: Shape, v: Shape, *, backward: bool = False) -> int:
    """Of q (B, H, T, D), k and v (B, H or fewer, S, D), by a kernel that fuses them."""
    scores = 2 * prod(q[:-1]) * k[-2]
    times_q, times_v = (3, 2) if backward else (1, 1)
    return scores * (times_q * q[-1] + times_v * v[-1])


def swapped(shape: Shape) -> Shape:
    """(B, H, T, D) of (B, T, H, D)."""
    b, n, h, d = shape
    return b, h, n, d


def of_convolution(out: Shape, weight: Shape) -> int:
    """Of a convolution with a kernel (out, in of a group, ...)."""
    return 2 * prod(out) * prod(weight[1:])
