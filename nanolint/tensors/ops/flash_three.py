"""FlashAttention 3, as the package of that name and the ``kernels`` hub hand it out.

hopper/flash_api.cpp: ``mha_fwd`` and ``mha_bwd``. q (B, T, H, D), k and v (B, S, H or fewer, D).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.layout import like_strides
from nanolint.tensors.ops.views import contiguous
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced
from nanolint.tensors.work import of_attention, swapped

if TYPE_CHECKING:
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.tensor import Tensor

ROWS = 128  # of queries and keys: sums lie in whole tiles
COLUMNS = 32  # of a head


def flash_attn_func(q: Tensor, k: Tensor, v: Tensor, *_settings: Any, **_options: Any) -> Tensor:
    """``flash_attn_func``: masks and windows change no size."""
    return flash_three(q, k, v)


@traced
def flash_three(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The output, like q; kept are all of them and the sums of the softmax."""
    device = q.device
    b, n, h, _ = q.shape
    made = q.role.made
    out = empty(
        device, q.shape, q.dtype, made("attention output"), like_strides(q.shape, q.strides)
    )
    lse = empty(device, (b, h, n), FLOAT32, made("attention log-sum-exp", "(B, H, T)"))
    device.compute(q.dtype, of_attention(*(swapped(each.shape) for each in (q, k, v))))
    roles = [each.role.gradient for each in (q, k, v)]

    def backward(g: Tensor, *saved: Tensor) -> list[Tensor | None]:
        shapes = [swapped(each.shape) for each in saved[:3]]
        device.compute(q.dtype, of_attention(*shapes, backward=True))
        flow = contiguous(g)
        found = [
            empty(device, x.shape, x.dtype, role, like_strides(x.shape, x.strides))
            for x, role in zip(saved[:3], roles, strict=True)
        ]
        scratch = [
            empty(device, (elements,), FLOAT32, made(label))
            for label, elements in backward_scratch(saved[0].shape, saved[1].shape)
        ]
        del scratch, flow
        return [*found]

    return record(out, (q, k, v), backward, q, k, v, out, lse)


def backward_scratch(q: Shape, k: Shape) -> list[tuple[str, int]]:
    """Returns the scratch memory of the backward pass: elements of float32, by label."""
    b, n, h, d = q
    rows, width = b * h * _up(n, ROWS), _up(d, COLUMNS)
    found = [("row sums", rows), ("log-sum-exp", rows), ("dq_accum", rows * width)]
    if k[2] != h:  # several heads add to one of keys and values
        each = b * k[2] * _up(k[1], ROWS) * width
        found += [("dk_accum", each), ("dv_accum", each)]
    return found


def _up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple
