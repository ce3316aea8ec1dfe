"""Attention: library calls, with what their kernels hold (torch/_meta_registrations.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.operations import DRAWS, STATE_FIRST
from nanolint.tape.torch import (
    EFFICIENT_STATE_FIRST_SINCE,
    EFFICIENT_STATE_ON_CARD_SINCE,
    FLASH_STATE_ON_CARD_SINCE,
)
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import FLOAT32, INT64
from nanolint.tensors.layout import contiguous_strides, is_contiguous, like_strides
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.attention_kernels import (
    WORKSPACE_BYTES,
    backward_scratch,
    backward_workspace_bytes,
    efficient_workspace_bytes,
    has_state_on_card,
    splits,
)
from nanolint.tensors.ops.views import contiguous
from nanolint.tensors.tensor import autograd_follows

if TYPE_CHECKING:
    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.tensor import Tensor


# torch/_meta_registrations.py: rows of the gradient of a bias are so many elements apart.
BIAS_ALIGNMENT = 16


def _swapped(shape: Shape) -> Strides:
    """The strides of (B, H, T, D) whose memory is (B, T, H, D) in order."""
    b, h, n, d = shape
    one, two, three, four = contiguous_strides((b, n, h, d))
    return one, three, two, four


def _up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


def flash(t: Capture, q: Tensor, k: Tensor, v: Tensor, dropout: float = 0.0) -> Tensor:
    """``_scaled_dot_product_flash_attention`` and its backward call: results lie as their inputs,
    and the backward call wants the output and its gradient by tokens."""
    b, h, n, _ = q.shape
    made = q.role.made
    shapes: tuple[Shape, ...] = (
        ((2,), ()) if has_state_on_card(t.device, FLASH_STATE_ON_CARD_SINCE) else ()
    )
    state = [(shape, None, INT64, made("attention random state")) for shape in shapes]
    results = [
        (q.shape, like_strides(q.shape, q.strides), q.dtype, made("attention output")),
        ((b, h, n), None, FLOAT32, made("attention log-sum-exp", "(B, H, T)")),
        *state,
    ]
    count = (
        1 if dropout else t.device.asked.ask(splits, b * h * -(-n // 64), k.shape[2], q.shape[3])
    )
    parts = (
        ("attention of split keys (B, H, T)", count * b * h * n),
        ("attention of split keys", count * b * h * n * _up(q.shape[3], 32)),
    )
    scratch = parts * 2 if count > 1 else ()
    how = (DRAWS,) if dropout else ()
    out, *rest = t.several(ops.FLASH, (q, k, v), results, *how, scratch=scratch)
    roles = [each.role.gradient for each in (q, k, v)]

    def backward(g: Tensor, *saved: Tensor) -> list[Tensor | None]:
        q, k = saved[:2]
        results = [
            (each.shape, like_strides(each.shape, each.strides), each.dtype, role)
            for each, role in zip(saved[:3], roles, strict=True)
        ]
        rows, d = _up(n, 128), q.shape[3]
        columns = _up(d, 32 if d <= 128 else 64)
        copied = b * h * n * d * g.dtype.itemsize // 4
        copies = [
            (f"{what} in order", copied)
            for x, what in (
                (g, "gradient of the attention output"),
                (saved[3], "attention output"),
            )
            if not is_contiguous((b, n, h, d), tuple(x.strides[dim] for dim in (0, 2, 1, 3)))
        ]
        scratch = [*copies, ("softmax_d", b * h * rows), ("dq_accum", b * h * rows * columns)]
        if k.shape[1] != h:  # the gradients of keys and values by heads, then summed
            each = b * k.shape[2] * h * d * q.dtype.itemsize // 4
            scratch += [("gradient of keys by heads", each), ("gradient of values by heads", each)]
        given, twice = (g, *saved), (*scratch, *reversed(scratch))
        return [
            # attention_backward.cu, ``_flash_attention_backward``: the copies come first, go last
            *t.several(ops.FLASH_BACKWARD, given, results, scratch=twice, ahead=len(copies))
        ]

    return record(out, (q, k, v), backward, q, k, v, out, *rest)


def efficient(
    t: Capture,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """``_scaled_dot_product_efficient_attention`` and its backward call."""
    b, h, n, _ = q.shape
    d = v.shape[-1]
    made = q.role.made
    learns = autograd_follows(t.device, (q, k, v))
    known = has_state_on_card(t.device, EFFICIENT_STATE_ON_CARD_SINCE) and not dropout
    shapes: tuple[Shape, ...] = ((), ()) if known else ()
    state = [(shape, None, INT64, made("attention random state")) for shape in shapes]
    rows = _up(n, 32) if learns else 0
    results = [
        ((b, h, n, d), _swapped((b, h, n, d)), q.dtype, made("attention output")),
        ((b, h, rows), None, FLOAT32, made("attention log-sum-exp", "(B, H, T)")),
        *state,
    ]
    given = (q, k, v) if bias is None else (q, k, v, bias)
    order = (STATE_FIRST,) if t.device.release >= EFFICIENT_STATE_FIRST_SINCE else ()
    half, keys = q.dtype.itemsize == 2, k.shape[2]
    summed = ("attention output accumulator", b * n * h * d)
    scratch = (summed, summed) if half and d > 128 else ()
    how = (*order, DRAWS) if dropout else order
    out, *rest = t.several(ops.EFFICIENT, given, results, *how, scratch=scratch)
    roles = [each.role.gradient for each in (q, k, v)]
    learns_bias = bias is not None and bias.requires_grad

    def backward(g: Tensor, *kept: Tensor | None) -> list[Tensor | None]:
        saved = [each for each in kept if each is not None]
        results = [
            (each.shape, _swapped(each.shape), each.dtype, role)
            for each, role in zip(saved[:3], roles, strict=True)
        ]
        if learns_bias and bias is not None:
            rows_of = (*bias.shape[:-1], _up(bias.shape[-1], BIAS_ALIGNMENT))
            results.append((bias.shape, contiguous_strides(rows_of), bias.dtype, bias.role))
        work = efficient_workspace_bytes(b * h, n, d, half=half, keys=keys) // 4
        delta, dq, sums = ("delta", b * h * n), ("workspace of dq", work), ("row sums", b * n * h)
        scratch: tuple[tuple[str, int], ...] = (delta, dq, dq, delta)
        if not half:
            times = "gradient times attention output", b * n * h * d
            turned = h > 1 and n > 1  # else they lie by heads as they do by tokens
            by_heads = (times, delta, sums, dq, dq, delta)
            scratch = (times, sums, *(by_heads if turned else (times, dq, dq, sums)))
        found = t.several(ops.EFFICIENT_BACKWARD, (g, *saved), results, scratch=scratch)
        return [*found, *(() if learns_bias else (None,))]

    return record(out, (q, k, v, bias), backward, q, k, v, bias, out, *rest)


def cudnn(
    t: Capture, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, dropout: float
) -> Tensor:
    """``_scaled_dot_product_cudnn_attention`` and its backward call: results lie as their
    inputs."""
    b, h, n, _ = q.shape
    made = q.role.made
    wide = (b, h, n, v.shape[-1])
    results = [
        (wide, like_strides(wide, q.strides), q.dtype, made("attention output")),
        ((b, h, n, 1), None, FLOAT32, made("attention log-sum-exp", "(B, H, T, 1)")),
        *((((), None, INT64, made("attention random state")),) * 2),
    ]
    given = (q, k, v) if bias is None else (q, k, v, bias)
    how = (STATE_FIRST, DRAWS) if dropout else (STATE_FIRST,)
    workspace = ("cuDNN's workspace", WORKSPACE_BYTES // 4)
    out, *rest = t.several(ops.CUDNN, given, results, *how, scratch=(workspace, workspace))
    roles = [each.role.gradient for each in (q, k, v)]

    def backward(g: Tensor, *kept: Tensor | None) -> list[Tensor | None]:
        saved = [each for each in kept if each is not None]
        results = [
            (each.shape, like_strides(each.shape, each.strides), each.dtype, role)
            for each, role in zip(saved[:3], roles, strict=True)
        ]
        taken = ("cuDNN's workspace", backward_workspace_bytes(q.shape, k.shape) // 4)
        found = t.several(ops.CUDNN_BACKWARD, (g, *saved), results, scratch=(taken, taken))
        return [*found, None]

    return record(out, (q, k, v, bias), backward, q, k, v, out, *rest, bias)


def flash_three(t: Capture, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """FlashAttention 3, a library's own operation."""
    b, n, h, _ = q.shape
    made = q.role.made
    results = [
        (q.shape, like_strides(q.shape, q.strides), q.dtype, made("attention output")),
        ((b, h, n), None, FLOAT32, made("attention log-sum-exp", "(B, H, T)")),
    ]
    out, lse = t.several(ops.FLASH_THREE, (q, k, v), results)
    roles = [each.role.gradient for each in (q, k, v)]

    def backward(g: Tensor, *saved: Tensor) -> list[Tensor | None]:
        results = [
            (each.shape, like_strides(each.shape, each.strides), each.dtype, role)
            for each, role in zip(saved[:3], roles, strict=True)
        ]
        scratch = tuple(backward_scratch(q.shape, k.shape))
        given = (contiguous(g), *saved)
        return [
            *t.several(
                ops.FLASH_THREE_BACKWARD, given, results, scratch=(*scratch, *reversed(scratch))
            )
        ]

    return record(out, (q, k, v), backward, q, k, v, out, lse)


def padded(t: Capture, x: Tensor) -> Tensor:
    """Each head with zeros after it."""
    width = x.shape[-1]
    shape = (*x.shape[:-1], _up(width, 8))
    out = t.make(ops.PAD, (x,), shape, x.dtype, x.role.made("padded q, k or v"), cost=4)
    role = x.role.gradient

    def backward(g: Tensor) -> list[Tensor | None]:
        unpadded = (*g.shape[:-1], width)
        strides = like_strides(unpadded, g.strides)
        return [t.view(g, (ops.SLICE, g.ndim - 1, 0, 1), unpadded, strides, role)]

    return record(out, (x,), backward)


FORMULAS: Formulas = {
    "flash": flash,
    "flash_three": flash_three,
    "cudnn": cudnn,
    "efficient": efficient,
    "padded_heads": padded,
}
