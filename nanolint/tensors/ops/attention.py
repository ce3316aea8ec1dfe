"""``F.scaled_dot_product_attention``: which kernel takes it, and what is done to its arguments.

aten/src/ATen/native/transformers/attention.cpp and cuda/sdp_utils.cpp. q (B, H, T, D), k and v
(B, H or fewer, S, D).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.torch import EFFICIENT_SHARES_HEADS_SINCE
from nanolint.tensors import refusing
from nanolint.tensors.device import CUDNN, EFFICIENT, FLASH, MATH
from nanolint.tensors.dtypes import BFLOAT16, BOOL, FLOAT32
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.activations import dropout
from nanolint.tensors.ops.attention_kernels import (
    FLASH_WIDTHS,
    cudnn,
    efficient,
    flash,
    is_cudnn,
    padded_heads,
)
from nanolint.tensors.ops.comparison import tril
from nanolint.tensors.ops.conversion import to_half
from nanolint.tensors.ops.creation import zeros
from nanolint.tensors.ops.inplace import add_
from nanolint.tensors.ops.joining import pad, repeat_interleave
from nanolint.tensors.ops.linear import plain_matmul
from nanolint.tensors.ops.loss import safe_softmax
from nanolint.tensors.ops.parts import sliced
from nanolint.tensors.ops.pointwise import elementwise, mul
from nanolint.tensors.ops.views import cast, expand, transpose
from nanolint.tensors.tracing import traced
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.tensor import Tensor

WIDEST_FLASH = 256
FLASH_SINCE = (8, 0)  # compute capability
MASK_ALIGNMENT = 8  # elements of a row of a mask


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``F.scaled_dot_product_attention``, by the kernel that PyTorch takes on the card."""
    given = attn_mask if attn_mask is None or attn_mask.dtype is BOOL else to_half(attn_mask)
    v, k, q = to_half(value), to_half(key), to_half(query)
    refusing.attended(q, k, v, given)
    if enable_gqa:
        refusing.shared_heads(q, k, v)
    mask = _as_numbers(q, given)
    kernels = q.device.attention_kernels
    if CUDNN in kernels and _is_dense(q, k, v) and is_cudnn(q, k, v, dropout_p, enable_gqa):
        return cudnn(q, k, v, mask, dropout_p)
    if FLASH in kernels and _is_flash(q, k, v, mask, is_causal, enable_gqa):
        return _flash(q, k, v, dropout_p)
    if EFFICIENT in kernels and _is_efficient(q, k, v, enable_gqa):
        mask = _aligned(q, k, mask)
        return efficient(q, k, v, mask, dropout_p)
    if MATH not in kernels:
        raise NotModelled(
            "attention by none of its kernels" if kernels else "attention by cuDNN alone"
        )
    return _math(q, k, v, mask, dropout_p, is_causal, enable_gqa)


def _is_flash(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool, enable_gqa: bool
) -> bool:
    """sdp_utils.cpp, ``can_use_flash_attention``."""
    return (
        q.device.capability >= FLASH_SINCE
        and q.dtype.itemsize == 2
        and mask is None
        and q.shape[-1] == k.shape[-1] == v.shape[-1] <= WIDEST_FLASH
        and (not is_causal or q.shape[-2] == k.shape[-2])
        and (enable_gqa or q.shape[1] == k.shape[1])
        and _is_dense(q, k, v)
    )


def _is_efficient(q: Tensor, k: Tensor, v: Tensor, enable_gqa: bool) -> bool:
    """sdp_utils.cpp, ``can_use_mem_efficient_attention``: heads of their own, and aligned ones."""
    shares = enable_gqa and q.device.release >= EFFICIENT_SHARES_HEADS_SINCE
    modern = q.device.capability >= (8, 0)
    alignment = 8 if q.dtype.itemsize == 2 else 4 if modern else 1
    widths = q.shape[-1], v.shape[-1]
    return (
        q.dtype.itemsize <= 4
        and (q.device.fuses_bfloat16 or q.dtype is not BFLOAT16)
        and q.ndim == 4
        and (shares or q.shape[:2] == k.shape[:2] == v.shape[:2])
        and not any(width % alignment for width in widths)
        and _is_dense(q, k, v)
    )


def _is_dense(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Four dimensions, something in each, and the last one in order."""
    return all(
        each.ndim == 4 and 0 not in each.shape and (each.strides[-1] == 1 or each.shape[-1] == 1)
        for each in (q, k, v)
    )


def _flash(q: Tensor, k: Tensor, v: Tensor, dropout: float) -> Tensor:
    width = q.shape[-1]
    if width % FLASH_WIDTHS == 0:
        return flash(q, k, v, dropout)
    query, key, value = (padded_heads(each) for each in (q, k, v))
    return sliced(flash(query, key, value, dropout), -1, width)


def _as_numbers(q: Tensor, mask: Tensor | None) -> Tensor | None:
    """``convert_boolean_attn_mask``."""
    if mask is None or mask.dtype is not BOOL:
        return mask
    return _mask_numbers(mask, q.dtype)


@traced
def _mask_numbers(mask: Tensor, dtype: Dtype) -> Tensor:
    """Zero where it holds, minus infinity elsewhere."""
    numbers = [zeros((), device=mask.device, dtype=dtype) for _ in range(2)]
    out = elementwise(dtype, ops.WHERE, mask, role=mask.role.made("mask", mask.role.dims))
    del numbers
    return out


def _aligned(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor | None:
    """``preprocess_mask``: rows padded to a multiple of 8, and repeated to all heads."""
    if mask is None:
        return None
    columns = mask.shape[-1]
    shape = (*q.shape[:-1], k.shape[-2])
    if columns % MASK_ALIGNMENT == 0:
        return expand(mask, shape)
    wide = pad(mask, (0, -columns % MASK_ALIGNMENT))
    return expand(sliced(wide, -1, columns), shape)


def _math(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    enable_gqa: bool,
) -> Tensor:
    """``_scaled_dot_product_attention_math``: written out, in float32."""
    refusing.masked_once(mask, causal=is_causal)
    query, key, value = (
        cast(each, FLOAT32) if each.dtype.itemsize == 2 else each for each in (q, k, v)
    )
    scaled = mul(query, 1.0)
    bias = mask
    if is_causal:
        ones = zeros((q.shape[-2], k.shape[-2]), device=q.device, dtype=BOOL)
        triangle = tril(ones)
        del ones
        bias = _as_numbers(query, triangle)
        del triangle
    keys, values = key, value
    if enable_gqa:
        keys = repeat_interleave(key, q.shape[1] // k.shape[1], 1)
        values = repeat_interleave(value, q.shape[1] // v.shape[1], 1)
    weights = plain_matmul(scaled, mul(transpose(keys, -2, -1), 1.0))
    if bias is not None:
        add_(weights, bias)
    weights = safe_softmax(weights)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p)
    second_result = cast(weights.detach(), q.dtype)
    out = cast(plain_matmul(weights, values), q.dtype)
    del second_result
    return out
