"""Elementwise operations that eager PyTorch makes by several kernels, and dropout."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanolint.inductor.derive.counting import is_half
from nanolint.tensors.autograd import record
from nanolint.tensors.device import NotTraced
from nanolint.tensors.dtypes import BOOL, FLOAT32, INT64
from nanolint.tensors.layout import broadcast, like_strides, normalized, result_strides
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.activations import sigmoid
from nanolint.tensors.ops.comparison import clamped, compare, of_clamped, sides_of
from nanolint.tensors.ops.creation import create, number_in
from nanolint.tensors.ops.parts import sliced
from nanolint.tensors.ops.pointwise import add, addcmul, div, extremum, mul, neg, result_type, sub
from nanolint.tensors.ops.unary import abs as absolute
from nanolint.tensors.ops.unary import exp, log1p
from nanolint.tensors.ops.views import cast, clone, contiguous, unsqueeze
from nanolint.tensors.tensor import Tensor
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.inductor.derive.writing import Traced
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.ops.pointwise import Operand
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role


def dropout(
    t: Capture, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """A mask from a random seed, times x, times a number (torch/_inductor/decomposition.py)."""
    if not (training and p > 0):
        return x
    if p == 1:
        raise NotTraced("dropout of everything")
    random = t.random(x.shape, x.role.made("random numbers"))
    label = x.role.made("dropout mask", x.role.dims)
    strides = like_strides(x.shape, x.strides)
    mask = t.make(ops.GT, (random,), x.shape, BOOL, label, p, strides=strides, numbers=[p])
    role = x.role.made("dropout output", x.role.dims)
    of_all = x.shape, x.dtype, role
    kept = t.make(ops.MUL, (mask, x), *of_all, strides=strides)
    scale = 1 / (1 - p) if p < 1 else 0.0
    out = t.make(ops.MUL, (kept,), *of_all, scale, strides=strides, numbers=[scale])

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        as_number = cast(mask, g.dtype)
        return [contiguous(mul(g, mul(as_number, scale)))]

    return record(out, (x,), backward, mask)


def glu(_t: Capture, x: Tensor, dim: int = -1) -> Tensor:
    """One half times the sigmoid of the other (torch/_decomp/decompositions.py)."""
    along = normalized(dim, x.ndim)
    half = x.shape[along] // 2
    first, second = (sliced(x, along, half, start=start) for start in (0, half))
    return mul(first, sigmoid(second))


def logsigmoid(t: Capture, x: Tensor) -> Tensor:
    """``log_sigmoid_forward`` and ``log_sigmoid_backward`` (torch/_decomp/decompositions.py)."""
    with t.device.no_grad():
        zero = t.make(ops.FULL, (), (), x.dtype, x.role, "0")  # ``new_zeros``: no 0.0
        out = sub(extremum(zero, x, ops.MINIMUM), log1p(exp(neg(absolute(x)))))

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        is_negative = compare(x, 0, ops.LT)
        role = g.role
        ones, zeros, minus = (constant(t, each, INT64, role) for each in (1, 0, -1))
        slope = _choice(t, (is_negative, ones, zeros), INT64, role)
        sign = _choice(t, (is_negative, ones, minus), INT64, role)
        z = exp(neg(absolute(x)))
        return [mul(g, sub(slope, mul(sign, div(z, add(z, 1)))))]

    return record(out, (x,), backward, x)


def masked_fill(t: Capture, x: Tensor, mask: Tensor, value: Operand = 0) -> Tensor:
    """``aten.where`` of the mask, a number and x, in order (torch/_refs)."""
    role = x.role.made("masked")
    numbers = [] if isinstance(value, Tensor) else [constant(t, value, x.dtype, role)]
    with t.device.no_grad():
        out = contiguous(_choice(t, (mask, *numbers, x), x.dtype, role))

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        return [masked_fill(t, g, mask)]

    return record(out, (x,), backward, mask)


def where(t: Capture, mask: Tensor, x: Operand, y: Operand) -> Tensor:
    """``aten.where``."""
    dtype = result_type(x, y)
    sides = [cast(each, dtype) if isinstance(each, Tensor) else each for each in (x, y)]
    tensors = [each for each in sides if isinstance(each, Tensor)]
    role = (tensors[0] if tensors else mask).role.made("choice")
    both = [each if isinstance(each, Tensor) else constant(t, each, dtype, role) for each in sides]
    out = _choice(t, (mask, *both), dtype, role)

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        zero = constant(t, 0, g.dtype, g.role)
        sides = ((g, zero), (zero, g))
        return [
            _choice(t, (mask, *side), g.dtype, g.role)
            if isinstance(each, Tensor) and each.node is not None
            else None
            for side, each in zip(sides, (x, y), strict=True)
        ]

    needed = tuple(each if isinstance(each, Tensor) else None for each in (x, y))
    return record(out, needed, backward, mask)


def constant(t: Capture, value: Number, dtype: Dtype, role: Role) -> Traced:
    """A number that ``aten.where`` chooses: one for all that choose it, wherever they are."""
    return t.make(ops.FULL, (), (), dtype, role, repr(number_in(value, dtype)))


def _choice(t: Capture, of: Sequence[Tensor], dtype: Dtype, role: Role) -> Traced:
    """``aten.where``, in the layout of its operands."""
    shape = broadcast(*(each.shape for each in of))
    strides = result_strides(shape, *((each.shape, each.strides) for each in of if each.shape))
    return t.make(ops.WHERE, of, shape, dtype, role, strides=strides)


# torch/_inductor/decomposition.py, _lerp_tensor and _lerp_scalar. In 2.12.1, not in 2.11.
INTERPOLATED_BY_ADDING_SINCE = (2, 12)


def interpolated(t: Capture, x: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """``aten.lerp`` without its gradient: from the nearer of both sides.

    Before Inductor had its own, torch/_refs worked half precision out in float32
    (``elementwise_type_promotion_wrapper``).
    """
    adds = t.device.release >= INTERPOLATED_BY_ADDING_SINCE
    with t.device.no_grad():
        if not adds and is_half(x.dtype):
            wide = cast(weight, FLOAT32) if isinstance(weight, Tensor) else weight
            return cast(interpolated(t, cast(x, FLOAT32), cast(end, FLOAT32), wide), x.dtype)
        if not isinstance(weight, Tensor) and adds:
            apart = sub(end, x)
            is_near = -0.5 < weight < 0.5  # type: ignore[operator]
            return add(x if is_near else end, apart, alpha=weight if is_near else weight - 1)
        by = weight if isinstance(weight, Tensor) else constant(t, weight, x.dtype, x.role)
        apart = sub(end, x)
        is_far = compare(absolute(by), 0.5, ops.GE)
        rest = neg(sub(1.0, by)) if adds else sub(by, 1)
        share = where(t, is_far, rest, by)
        side = where(t, is_far, end, x)
        return addcmul(side, share, apart) if adds else add(mul(share, apart), side)


def mask_numbers(t: Capture, mask: Tensor, dtype: Dtype) -> Tensor:
    """``convert_boolean_attn_mask``: a choice between minus infinity and zero."""
    role = mask.role.made("mask")
    low = constant(t, float("-inf"), dtype, role)
    return _choice(t, (mask, constant(t, 0.0, dtype, role), low), dtype, role)


def clamp(_t: Capture, x: Tensor, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Each bound by itself, in float32 (torch/_inductor/decomposition.py)."""
    sides = sides_of(min, max)
    if any(isinstance(each, Tensor) for each, _ in sides):
        return clamped(x, sides)
    made = result_type(x, *[each for each, _ in sides])
    with x.device.no_grad():
        out = cast(x, FLOAT32 if is_half(made) else made)
        for side in sides:
            out = clamped(out, [side])
        out = cast(out, made)
    return record(out, (x,), lambda g, x: [of_clamped(g, x, sides)], x)


def _triangle(t: Capture, x: Tensor, diagonal: int = 0, *, op: Op) -> Tensor:
    """``tril`` and ``triu``: a choice by the numbers of row and column (torch/_refs); of a mask
    both masks together (torch/_prims_common, ``mask_tensor``)."""
    label = x.role.made("numbers")
    columns = create(x.device, x.shape[-1:], INT64, label)
    t.of(columns).all_nodes = 2  # and a view, which two of them share
    rows = unsqueeze(create(x.device, x.shape[-2:-1], INT64, label), -1)
    mask = compare(sub(columns, rows), diagonal, op)
    if x.dtype is BOOL:
        return compare(mask, x, ops.LOGICAL_AND)
    role = x.role.made("triangle")
    out = _choice(t, (mask, x, constant(t, 0, x.dtype, role)), x.dtype, role)
    return record(out, (x,), lambda g: [_triangle(t, g, diagonal, op=op)])


def padded(
    t: Capture,
    x: Tensor,
    pad: Sequence[int],
    mode: str = "constant",
    value: object = None,
) -> Tensor:
    """``aten.constant_pad_nd``; backward the same by as much less."""
    if mode != "constant":
        raise NotModelled(f"padding by mode {mode!r}")
    sizes, sides = x.shape, tuple(pad)
    around = [(0, 0)] * x.ndim
    for place in range(len(sides) // 2):
        around[-1 - place] = sides[2 * place], sides[2 * place + 1]
    shape = tuple(size + sum(both) for size, both in zip(sizes, around, strict=True))
    if all(before <= 0 and after <= 0 for before, after in around):  # parts alone
        found = x
        for dim, (before, _) in enumerate(around):
            if shape[dim] != sizes[dim]:
                found = sliced(found, dim, shape[dim], start=-before)
        return clone(found)
    role = x.role.made("padded")
    with t.device.no_grad():
        out = t.make(ops.PAD, (x,), shape, x.dtype, role, sides, value or 0, cost=7)
    back = tuple(-each for each in sides)
    return record(out, (x,), lambda g: [padded(t, g, back)])


FORMULAS: Formulas = {
    "_mask_numbers": mask_numbers,
    "_interpolated": interpolated,
    "clamp": clamp,
    "dropout": dropout,
    "glu": glu,
    "logsigmoid": logsigmoid,
    "masked_fill": masked_fill,
    "where": where,
    "pad": padded,
    "tril": partial(_triangle, op=ops.LE),
    "triu": partial(_triangle, op=ops.GE),
}
