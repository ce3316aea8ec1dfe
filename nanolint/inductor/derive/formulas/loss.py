"""Softmax and cross-entropy (torch/_decomp/decompositions.py)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.formulas.elements import constant
from nanolint.inductor.derive.formulas.reductions import mean, reduce, total
from nanolint.inductor.inductor import Inductor
from nanolint.tensors.autograd import record
from nanolint.tensors.device import NotDerived
from nanolint.tensors.dtypes import BOOL, FLOAT32, INT64
from nanolint.tensors.layout import normalized, result_strides
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.comparison import compare, where
from nanolint.tensors.ops.conversion import to_float32
from nanolint.tensors.ops.creation import create
from nanolint.tensors.ops.pointwise import div, mul, neg, result_type, sub
from nanolint.tensors.ops.unary import abs, exp, in_steps, log, pow
from nanolint.tensors.ops.views import cast, contiguous, expand, squeeze, unsqueeze, view

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.tensor import Tensor


def softmax(
    t: Capture,
    x: Tensor,
    dtype: Dtype | None,
    label: str,
    *,
    dim: int | None = -1,
    multiplies: bool,
) -> Tensor:
    """``_softmax`` (``multiplies``) and ``_log_softmax``."""
    made = dtype or x.dtype
    source = contiguous(cast(x, made))
    if dim is None:  # torch/nn/functional.py, ``_get_softmax_dim``
        dim = 0 if x.ndim in {0, 1, 3} else 1
    over = (normalized(dim, x.ndim),)
    role = x.role.made(label, x.role.dims)
    with t.device.no_grad():
        wide = cast(source, FLOAT32) if made.itemsize < 4 else source
        top = reduce(t, ops.AMAX, wide, over, True)
        shifted = sub(wide, top)
        weights = exp(shifted)
        summed = reduce(t, ops.SUM, weights, over, True)
        out = (
            div(weights, summed, role=role) if multiplies else sub(shifted, log(summed), role=role)
        )
        out = cast(out, made, role)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        flow = cast(g, FLOAT32) if made.itemsize < 4 else g
        known = cast(out, FLOAT32) if made.itemsize < 4 else out
        if multiplies:
            product = mul(flow, known)
            of = neg(known), reduce(t, ops.SUM, product, over, True), product
            strides = result_strides(x.shape, *((each.shape, each.strides) for each in of))
            found: Tensor = t.make(  # inductor_prims.py, ``fma``
                ops.FMA, of, x.shape, product.dtype, role, strides=strides
            )
        else:
            below = mul(exp(known), reduce(t, ops.SUM, flow, over, True))
            found = sub(flow, below)
        return [cast(found, source.dtype, source.role.gradient)]

    return record(out, (source,), backward, out)


def safe_softmax(t: Capture, x: Tensor) -> Tensor:
    """``_safe_softmax``: rows of minus infinity become zeros."""
    out = softmax(t, x, None, "softmax output", multiplies=True)
    with t.device.no_grad():
        masked = reduce(t, ops.ANY, compare(x, 0.0), (x.ndim - 1,), True)
    zeros = t.make(ops.FULL, (), out.shape, out.dtype, out.role)
    return where(masked, zeros, out)


def squares(
    t: Capture,
    x: Tensor,
    target: Tensor,
    size_average: object = None,
    reduce: object = None,
    reduction: str = "mean",
) -> Tensor:
    """``mse_loss``: the mean of the squares of a difference."""

    def slope(difference: Tensor, flow: Tensor, norm: float) -> Tensor:
        return mul(mul(difference, 2 * norm), flow)

    return _of_difference(t, x, target, reduction, lambda each: pow(each, 2), slope)


def smooth_l1(t: Capture, x: Tensor, target: Tensor, reduction: str, beta: Number) -> Tensor:
    """``smooth_l1_loss``: squares of small differences, and the others as they are."""

    def loss(difference: Tensor) -> Tensor:
        away = abs(difference)
        near = div(mul(pow(away, 2), 0.5), beta)
        return where(compare(away, beta, ops.LT), near, sub(away, 0.5 * beta))

    def slope(difference: Tensor, flow: Tensor, norm: float) -> Tensor:
        near, scaled = compare(abs(difference), beta, ops.LT), mul(flow, norm)
        return where(
            near, div(mul(scaled, difference), beta), mul(scaled, in_steps(difference, ops.SIGN))
        )

    return _of_difference(t, x, target, reduction, loss, slope)


def huber_loss(
    t: Capture, x: Tensor, target: Tensor, reduction: str = "mean", delta: Number = 1.0
) -> Tensor:
    """``huber_loss``: the same with another slope."""

    def loss(difference: Tensor) -> Tensor:
        away = abs(difference)
        near, far = mul(mul(away, 0.5), away), mul(sub(away, 0.5 * delta), delta)
        return where(compare(away, delta, ops.LT), near, far)

    def slope(difference: Tensor, flow: Tensor, norm: float) -> Tensor:
        above = mul(mul(flow, norm), delta)
        inside = mul(mul(difference, norm), flow)
        upper = where(compare(difference, delta, ops.GT), above, inside)
        below = mul(mul(flow, -norm), delta)
        return where(compare(difference, -delta, ops.LT), below, upper)

    return _of_difference(t, x, target, reduction, loss, slope)


def _of_difference(
    t: Capture,
    x: Tensor,
    target: Tensor,
    reduction: str,
    loss: Callable[[Tensor], Tensor],
    slope: Callable[[Tensor, Tensor, float], Tensor],
) -> Tensor:
    """A loss of a difference, in float32: each gradient makes a difference of its own
    (torch/_decomp/decompositions.py), of which its ``slope`` follows, from what flows back and by
    what that is divided."""
    wide_target, wide = to_float32(target), to_float32(x)
    dtype = result_type(wide, wide_target)
    needs = wide.requires_grad, wide_target.requires_grad
    norm = 1.0 / wide.numel if reduction == "mean" else 1.0
    with t.device.uncast(), t.device.no_grad():
        out = loss(sub(cast(wide, FLOAT32), cast(wide_target, FLOAT32)))
        if reduction != "none":
            out = mean(t, out) if reduction == "mean" else total(t, out)
        out = cast(out, dtype)

    def backward(g: Tensor, x: Tensor, target: Tensor) -> list[Tensor | None]:
        flow, one, other = (cast(each, FLOAT32) for each in (g, x, target))
        pairs = (one, other), (other, one)
        return [
            cast(slope(sub(*pair), flow, norm), each.dtype, each.role.gradient) if needed else None
            for needed, pair, each in zip(needs, pairs, (x, target), strict=True)
        ]

    return record(out, (wide, wide_target), backward, wide, wide_target)


def nll_loss_nd(
    t: Capture,
    log: Tensor,
    targets: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
) -> Tensor:
    """``nll_loss_nd`` (aten/src/ATen/native/LossNLL.cpp): classes in the second dimension. Autocast
    knows only ``nll_loss`` and ``nll_loss2d``, after the views."""
    if weight is not None:
        raise NotDerived("a loss of weighted classes")
    role = log.role.made("log-probabilities", log.role.dims)
    if log.ndim < 3:
        return _nll_loss(t, to_float32(log, role), targets, ignore_index, reduction)
    shape, is_image = targets.shape, log.ndim == 4
    log, targets = contiguous(log), contiguous(targets)
    if not is_image:
        rows, classes = log.shape[:2]
        places = prod(shape[1:])
        log = view(log, (rows, classes, 1, places))
        targets = view(targets, (rows, 1, places))
    wide = to_float32(log, role)
    loss = _nll_loss(t, wide, targets, ignore_index, reduction)
    return loss if is_image or reduction != "none" else view(loss, shape)


def _nll_loss(
    t: Capture, wide: Tensor, targets: Tensor, ignore_index: int, reduction: str
) -> Tensor:
    """``_nll_loss_forward`` and ``_nll_loss_backward``."""
    divides = reduction == "mean"
    dim = 0 if wide.ndim < 2 else 1
    over = tuple(range(targets.ndim))
    role = wide.role
    with t.device.no_grad():
        counted = compare(targets, ignore_index, ops.NE)
        safe = unsqueeze(_choice(t, counted, targets), dim)
        taken = t.make(
            ops.GATHER, (wide, safe), safe.shape, wide.dtype,
            role.made("log-probabilities of the targets"), dim, cost=0,
        )  # fmt: skip
        each = _choice(t, counted, neg(squeeze(taken, dim)))
        count = cast(reduce(t, ops.SUM, counted, over, False, INT64), wide.dtype)
        count.role = role.made("cross_entropy count")
        loss = each if reduction == "none" else reduce(t, ops.SUM, each, over, False)
        if divides:
            loss = div(loss, count, role=role.made("loss"))

    def backward(g: Tensor, log: Tensor, targets: Tensor, count: Tensor) -> list[Tensor | None]:
        share = div(g, count) if divides else g
        share = unsqueeze(g, dim) if reduction == "none" else share
        places = unsqueeze(targets, dim)
        counted = compare(places, ignore_index, ops.NE)
        safe = _choice(t, counted, places)
        hot: Tensor
        inductor = Inductor.of(t.device.release)
        if inductor.scatters_loss:
            zeros = log.role.gradient.made("scattered gradient", log.role.dims)
            hot = t.make(ops.INDEX_PUT_NEW, (safe, safe), log.shape, log.dtype, zeros)
        elif inductor.compares_scattered:
            hot = _compared(t, safe, dim, log)
        else:
            role = log.role.gradient
            hot = t.make(ops.SCATTER, (safe,), log.shape, log.dtype, role)
        kept = _choice(t, counted, share)
        return [mul(hot, kept, role=log.role.gradient)]

    return record(loss, (wide,), backward, wide, targets, count)


def _compared(t: Capture, places: Tensor, dim: int, log: Tensor) -> Tensor:
    """-1 at one place along ``dim``, and zeros (torch/_inductor/fx_passes/joint_graph.py,
    ``scatter_upon_const_tensor``): a comparison with the numbers of the places."""
    role = log.role.gradient
    numbers = create(t.device, (log.shape[dim],), INT64, role)
    lying = tuple(size if place == dim else 1 for place, size in enumerate(log.shape))
    mask = compare(expand(places, log.shape), view(numbers, lying))
    background = t.make(ops.FULL, (), (), FLOAT32, role, "background")
    sides = constant(t, -1.0, FLOAT32, role), background
    found = t.make(ops.WHERE, (mask, *sides), log.shape, FLOAT32, role)
    return cast(found, log.dtype, role)


def _choice(t: Capture, mask: Tensor, x: Tensor) -> Tensor:
    """``where(mask, x, 0)``."""
    assert mask.dtype is BOOL
    role = x.role.made("choice")
    of = mask, x, constant(t, 0, x.dtype, role)
    return t.make(ops.WHERE, of, mask.shape, x.dtype, role)


FORMULAS: Formulas = {
    "_smooth_l1": smooth_l1,
    "_softmax": softmax,
    "huber_loss": huber_loss,
    "mse_loss": squares,
    "nll_loss_nd": nll_loss_nd,
    "safe_softmax": safe_softmax,
}
