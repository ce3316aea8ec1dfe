"""Attention: library calls, with what their kernels hold (torch/_meta_registrations.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.derive.operations import CALL, POINTWISE
from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import FLOAT32, INT64
from nanolint.memory.tensors.layout import contiguous_strides, like_strides

if TYPE_CHECKING:
    from nanolint.memory.compiled.derive.capture import Capture, Formulas
    from nanolint.memory.tensors.layout import Shape, Strides
    from nanolint.memory.tensors.tensor import Tensor


def _swapped(shape: Shape) -> Strides:
    """The strides of (B, H, T, D) whose memory is (B, T, H, D) in order."""
    b, h, n, d = shape
    one, two, three, four = contiguous_strides((b, n, h, d))
    return one, three, two, four


def _up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


def flash(t: Capture, q: Tensor, k: Tensor, v: Tensor, _dropout: float = 0.0) -> Tensor:
    """``_scaled_dot_product_flash_attention`` and its backward call."""
    b, h, n, _ = q.shape
    made = q.role.made
    shapes: tuple[Shape, ...] = ((2,), ()) if t.device.attention_state else ()
    state = [(shape, None, INT64, made("attention random state")) for shape in shapes]
    results = [
        (q.shape, _swapped(q.shape), q.dtype, made("attention output")),
        ((b, h, n), None, FLOAT32, made("attention log-sum-exp", "(B, H, T)")),
        *state,
    ]
    out, *rest = t.several("flash", CALL, (q, k, v), results)
    roles = [each.role.gradient for each in (q, k, v)]

    def backward(g: Tensor, *saved: Tensor) -> list[Tensor | None]:
        results = [
            (each.shape, _swapped(each.shape), each.dtype, role)
            for each, role in zip(saved[:3], roles, strict=True)
        ]
        return [*t.several("flash backward", CALL, (g, *saved), results)]

    return record(out, (q, k, v), backward, q, k, v, out, *rest)


def efficient(
    t: Capture, q: Tensor, k: Tensor, v: Tensor, _bias: None = None, _dropout: float = 0.0
) -> Tensor:
    """``_scaled_dot_product_efficient_attention`` and its backward call."""
    b, h, n, _ = q.shape
    d = v.shape[-1]
    made = q.role.made
    learns = t.device.grad_enabled and any(each.requires_grad for each in (q, k, v))
    shapes: tuple[Shape, ...] = ((), ()) if t.device.attention_state else ()
    state = [(shape, None, INT64, made("attention random state")) for shape in shapes]
    rows = _up(n, 32) if learns else 0
    results = [
        ((b, h, n, d), _swapped((b, h, n, d)), q.dtype, made("attention output")),
        ((b, h, rows), None, FLOAT32, made("attention log-sum-exp", "(B, H, T)")),
        *state,
    ]
    out, *rest = t.several("efficient", CALL, (q, k, v), results)
    roles = [each.role.gradient for each in (q, k, v)]

    def backward(g: Tensor, *saved: Tensor) -> list[Tensor | None]:
        results = [
            (each.shape, _swapped(each.shape), each.dtype, role)
            for each, role in zip(saved[:3], roles, strict=True)
        ]
        return [*t.several("efficient backward", CALL, (g, *saved), results)]

    return record(out, (q, k, v), backward, q, k, v, out, *rest)


def padded(t: Capture, x: Tensor) -> Tensor:
    """Each head with zeros behind it."""
    width = x.shape[-1]
    shape = (*x.shape[:-1], _up(width, 8))
    out = t.make("pad", POINTWISE, (x,), shape, x.dtype, x.role.made("padded q, k or v"), cost=4)
    role = x.role.gradient

    def backward(g: Tensor) -> list[Tensor | None]:
        unpadded = (*g.shape[:-1], width)
        strides = like_strides(unpadded, g.strides)
        return [t.view(g, ("slice", g.ndim - 1, 0, 1), unpadded, strides, role)]

    return record(out, (x,), backward)


FORMULAS: Formulas = {"flash": flash, "efficient": efficient, "padded_heads": padded}
