"""cuDNN's attention, which PyTorch prefers on Hopper and on Blackwell's data-centre cards.

aten/src/ATen/native/transformers/cuda/attention.cu and aten/src/ATen/native/cudnn/MHA.cpp. What
cuDNN takes for itself is its own: the formulas are of the calls that were measured on an H200
(validation/recorded/gpu/h200-attention.json). q (B, H, T, D), k and v (B, H or fewer, S, D).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.torch import (
    CUDNN_DROPOUT_IN_SIXTEENTHS_SINCE,
    CUDNN_WIDE_HEADS_SINCE,
    prefers_cudnn_attention,
)
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import FLOAT32, INT64, UINT8
from nanolint.tensors.layout import like_strides
from nanolint.tensors.ops.views import contiguous
from nanolint.tensors.tensor import autograd_follows, empty
from nanolint.tensors.tracing import traced
from nanolint.tensors.work import of_attention

if TYPE_CHECKING:
    from nanolint.tape.torch import Version
    from nanolint.tensors.device import Card
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor

ALIGNMENT = 8  # elements of a head
WIDEST = 256
WIDEST_OF_ANY = 128  # wider ones that learn have 256 elements, in newer releases
STEPS_OF_DROPOUT = 16
WORKSPACE_BYTES = 256  # of the forward pass, and in the backward pass beside what is summed there


def is_cudnn(q: Tensor, k: Tensor, v: Tensor, dropout: float, enable_gqa: bool) -> bool:
    """sdp_utils.cpp, ``can_use_cudnn_attention``, if it comes first, of dense arguments."""
    device = q.device
    learns = autograd_follows(device, (q, k, v))
    return (
        device.asked.ask(prefers_cudnn, device.release)
        and q.dtype.itemsize == 2
        and (enable_gqa or q.shape[1] == k.shape[1])
        and k.shape[-2] != 1
        and (not dropout or q.shape[-2] != 1)
        and is_able(q.shape[-1], v.shape[-1], dropout, device.release, learns=learns)
    )


def is_able(width: int, of_values: int, dropout: float, release: Version, *, learns: bool) -> bool:
    """Whether it takes heads so wide, with so much dropout."""
    if not all(each % ALIGNMENT == 0 and each <= WIDEST for each in (width, of_values)):
        return False
    if learns and release >= CUDNN_WIDE_HEADS_SINCE and not _learns(width, of_values):
        return False
    return release < CUDNN_DROPOUT_IN_SIXTEENTHS_SINCE or dropout * STEPS_OF_DROPOUT % 1 == 0


def prefers_cudnn(card: Card, release: Version) -> bool:
    """Whether it comes before all others on the card."""
    return prefers_cudnn_attention(release, card.generation)


def _learns(width: int, of_values: int) -> bool:
    """Whether heads so wide have a backward pass."""
    narrow = width <= WIDEST_OF_ANY and of_values <= WIDEST_OF_ANY
    return narrow or (width, of_values) in ((192, 128), (256, 256))


def backward_workspace_bytes(q: Shape, k: Shape) -> int:
    """Bytes that cuDNN's backward pass takes for itself.

    The gradient of the queries and a number for each of them, in float32, and, if heads share
    keys, the gradients of keys and values by heads, in half precision.
    """
    b, h, n, d = q
    by_heads = 2 * 2 * b * h * k[2] * d if k[1] != h else 0
    return 4 * b * h * n * d + 4 * b * h * n + by_heads + WORKSPACE_BYTES


def _like(x: Tensor, role: Role) -> Tensor:
    return empty(x.device, x.shape, x.dtype, role, like_strides(x.shape, x.strides))


@traced
def cudnn(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, dropout: float) -> Tensor:
    """``_scaled_dot_product_cudnn_attention`` and its backward call; a bias has no gradient."""
    device = q.device
    b, h, n, _ = q.shape
    made = q.role.made
    learns = autograd_follows(device, (q, k, v))
    state = [empty(device, (), INT64, made("attention random state")) for _ in range(2)]
    wide = (b, h, n, v.shape[-1])
    strides = like_strides(wide, q.strides)
    out = empty(device, wide, q.dtype, made("attention output"), strides)
    lse = None
    if learns:
        lse = empty(device, (b, h, n, 1), FLOAT32, made("attention logsumexp", "(B, H, T, 1)"))
    empty(device, (WORKSPACE_BYTES,), UINT8, made("cuDNN's workspace"))
    device.compute(q.dtype, of_attention(q.shape, k.shape, v.shape))
    roles = [each.role.gradient for each in (q, k, v)]

    def backward(
        g: Tensor, q: Tensor, k: Tensor, v: Tensor, *_saved: Tensor | None
    ) -> list[Tensor | None]:
        device.compute(q.dtype, of_attention(q.shape, k.shape, v.shape, backward=True))
        found = [_like(x, role) for x, role in zip((q, k, v), roles, strict=True)]
        copied = g if g.strides[-1] == 1 else contiguous(g)
        nbytes = backward_workspace_bytes(q.shape, k.shape)
        workspace = empty(device, (nbytes,), UINT8, made("cuDNN's workspace"))
        del workspace, copied
        return [*found, None]

    return record(out, (q, k, v, bias), backward, q, k, v, out, lse, *state, bias)
