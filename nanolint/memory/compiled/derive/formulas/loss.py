"""Softmax and cross-entropy (torch/_decomp/decompositions.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.derive.formulas.reductions import mean, reduce, total
from nanolint.memory.compiled.derive.operations import CALL, POINTWISE
from nanolint.memory.compiled.inductor import Inductor
from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import BOOL, FLOAT32, INT64
from nanolint.memory.tensors.ops.autocast import to_float32
from nanolint.memory.tensors.ops.comparison import compare, where
from nanolint.memory.tensors.ops.exponentials import exp, log
from nanolint.memory.tensors.ops.pointwise import div, mul, neg, sub
from nanolint.memory.tensors.ops.unary import pow
from nanolint.memory.tensors.ops.views import cast, contiguous, squeeze, unsqueeze

if TYPE_CHECKING:
    from nanolint.memory.compiled.derive.capture import Capture, Formulas
    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.tensor import Tensor

IGNORED = -100


def softmax(t: Capture, x: Tensor, dtype: Dtype | None, label: str, *, multiplies: bool) -> Tensor:
    """``_softmax`` (``multiplies``) and ``_log_softmax`` over the last dimension."""
    made = dtype or x.dtype
    source = contiguous(cast(x, made))
    over = (x.ndim - 1,)
    role = x.role.made(label, x.role.dims)
    with t.device.no_grad():
        wide = cast(source, FLOAT32) if made.itemsize < 4 else source
        top = reduce(t, "amax", wide, over, True)
        shifted = sub(wide, top)
        weights = exp(shifted)
        summed = reduce(t, "sum", weights, over, True)
        out = (
            div(weights, summed, role=role) if multiplies else sub(shifted, log(summed), role=role)
        )
        out = cast(out, made, role)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        flow = cast(g, FLOAT32) if made.itemsize < 4 else g
        known = cast(out, FLOAT32) if made.itemsize < 4 else out
        if multiplies:
            product = mul(flow, known)
            found = sub(product, mul(known, reduce(t, "sum", product, over, True)))
        else:
            below = mul(exp(known), reduce(t, "sum", flow, over, True))
            found = sub(flow, below)
        return [cast(found, source.dtype, source.role.gradient)]

    return record(out, (source,), backward, out)


def safe_softmax(t: Capture, x: Tensor) -> Tensor:
    """``_safe_softmax``: rows of minus infinity become zeros."""
    out = softmax(t, x, None, "softmax output", multiplies=True)
    with t.device.no_grad():
        masked = reduce(t, "any", compare(x, 0.0), (x.ndim - 1,), True)
    zeros = t.make("full", POINTWISE, (), out.shape, out.dtype, out.role)
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
    wide_target, wide = to_float32(target), to_float32(x)
    with t.device.uncast():
        each = pow(sub(wide, wide_target), 2)
        if reduction == "none":
            return each
        return mean(t, each) if reduction == "mean" else total(t, each)


def nll_loss(
    t: Capture,
    log: Tensor,
    targets: Tensor,
    _weight: None = None,
    _size_average: object = None,
    _ignore_index: int = IGNORED,
    _reduce: object = None,
    reduction: str = "mean",
) -> Tensor:
    """``nll_loss_forward`` and ``nll_loss_backward``."""
    divides = reduction == "mean"
    wide = to_float32(log, log.role.made("log-probabilities", log.role.dims))
    with t.device.no_grad():
        counted = compare(targets, IGNORED)
        safe = _choice(t, counted, targets)
        taken = t.make(
            "gather", POINTWISE, (wide, unsqueeze(safe, 1)), (*targets.shape, 1), wide.dtype,
            log.role.made("log-probabilities of the targets"), 1, cost=4,
        )  # fmt: skip
        each = _choice(t, counted, neg(squeeze(taken, 1)))
        count = cast(reduce(t, "sum", counted, (0,), False, INT64), wide.dtype)
        count.role = log.role.made("cross_entropy count")
        loss = each if reduction == "none" else reduce(t, "sum", each, (0,), False)
        if divides:
            loss = div(loss, count, role=log.role.made("loss"))

    def backward(g: Tensor, log: Tensor, targets: Tensor, count: Tensor) -> list[Tensor | None]:
        share = div(g, count) if divides else g
        share = unsqueeze(g, 1) if reduction == "none" else share
        places = unsqueeze(targets, 1)
        counted = compare(places, IGNORED)
        safe = _choice(t, counted, places)
        # scatter of -1 into zeros, upon a constant: a comparison with the column's number
        if Inductor.of(t.device.release).scatters_loss:
            zeros = log.role.gradient.made("scattered gradient", log.role.dims)
            hot = t.make("index_put", CALL, (safe, safe), log.shape, log.dtype, zeros)
        else:
            made = log.role.gradient
            hot = t.make("scatter", POINTWISE, (safe,), log.shape, log.dtype, made, cost=5)
        kept = _choice(t, counted, share)
        return [mul(hot, kept, role=log.role.gradient)]

    return record(loss, (wide,), backward, wide, targets, count)


def _choice(t: Capture, mask: Tensor, x: Tensor) -> Tensor:
    """``where(mask, x, 0)``."""
    assert mask.dtype is BOOL
    return t.make("where", POINTWISE, (mask, x), mask.shape, x.dtype, x.role.made("choice"), 0,
                  cost=2)  # fmt: skip


FORMULAS: Formulas = {
    "_softmax": softmax,
    "mse_loss": squares,
    "nll_loss": nll_loss,
    "safe_softmax": safe_softmax,
}
