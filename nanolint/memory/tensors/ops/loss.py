"""Softmax and losses (aten/src/ATen/native/SoftMax.cpp, LossNLL.cpp, Loss.cpp, cuda/SoftMax.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import BOOL, FLOAT16, FLOAT32, FLOATING
from nanolint.memory.tensors.ops.autocast import to_float32
from nanolint.memory.tensors.ops.comparison import bitwise_not, check, compare
from nanolint.memory.tensors.ops.inplace import masked_fill_
from nanolint.memory.tensors.ops.pointwise import add, div, elementwise, mul, neg, result_type
from nanolint.memory.tensors.ops.reductions import sum
from nanolint.memory.tensors.ops.views import cast, contiguous
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.tensors.tracing import traced
from nanolint.memory.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from nanolint.memory.tensors.dtypes import Dtype, Number
    from nanolint.memory.tensors.role import Role
    from nanolint.memory.tensors.tensor import Tensor


def softmax(
    x: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """``F.softmax``: float32 under autocast. Its result is what it saves."""
    return _softmax(x, dtype or _autocast_type(x), "softmax output", multiplies=True)


def log_softmax(
    x: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """``F.log_softmax``: float32 under autocast."""
    return _softmax(x, dtype or _autocast_type(x), "log_softmax", multiplies=False)


@traced
def safe_softmax(x: Tensor) -> Tensor:
    """``_safe_softmax``: rows of minus infinity become zeros."""
    out = _softmax(x.detach(), None, "softmax output", multiplies=True)
    masked = check(x)
    rows = empty(x.device, (*x.shape[:-1], 1), BOOL, x.role.made("truth"))
    zero = empty(x.device, (), x.dtype, x.role.made("number"))
    safe = elementwise(x.dtype, out.role.label, out, rows)
    del masked, rows, zero, out
    role = x.role.gradient

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        return [_softmax_gradient(g, out, out.dtype, role)]

    return record(safe, (x,), backward, safe)


def _autocast_type(x: Tensor) -> Dtype | None:
    return None if x.device.half is None else FLOAT32


@traced
def _softmax(x: Tensor, dtype: Dtype | None, label: str, *, multiplies: bool) -> Tensor:
    """``multiplies``: the backward pass makes a buffer of the gradient times the result."""
    made = dtype or x.dtype
    # One kernel reads float16 and writes float32.
    source = x if x.dtype is FLOAT16 and made is FLOAT32 else cast(x, made)
    out = empty(x.device, x.shape, made, x.role.made(label, x.role.dims))
    in_order = contiguous(source)
    del in_order
    before, role = source.dtype, x.role.gradient

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        return [_softmax_gradient(g, out, before, role, multiplies=multiplies)]

    return record(out, (source,), backward, out)


def _softmax_gradient(
    g: Tensor, out: Tensor, dtype: Dtype, role: Role, *, multiplies: bool = True
) -> Tensor:
    found = empty(g.device, out.shape, dtype, role)
    copies = contiguous(g), contiguous(out)
    if multiplies:
        product = empty(g.device, out.shape, g.dtype, out.role.made("gradient times softmax"))
        del product
    del copies
    return found


def cross_entropy(
    logits: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: object = None,
    ignore_index: int = -100,
    reduce: object = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """``F.cross_entropy`` of (N, V) or (N, V, ...) logits.

    ``target`` are classes, or probabilities of the shape of the logits. log_softmax in the type of
    the logits, nll_loss in float32 under autocast.
    """
    log = log_softmax(logits, dtype=logits.dtype)
    if logits.shape == target.shape and target.dtype.kind == FLOATING:
        return _of_probabilities(log, target, reduction, label_smoothing)
    loss = nll_loss(log, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return loss
    smooth = neg(sum(log, 0 if log.ndim == 1 else 1))
    ignored = compare(target, ignore_index)
    masked_fill_(smooth, ignored, 0.0)
    if reduction == "mean":
        total = sum(smooth)
        counted = bitwise_not(ignored)
        count = sum(counted)
        smooth = div(total, count)
        del total, counted, count
    elif reduction == "sum":
        smooth = sum(smooth)
    del ignored
    return add(mul(loss, 1 - label_smoothing), mul(smooth, label_smoothing))


def _of_probabilities(
    log: Tensor, target: Tensor, reduction: str, label_smoothing: float
) -> Tensor:
    if label_smoothing:
        raise NotModelled("label smoothing of probabilities")
    if reduction == "none":
        return neg(sum(mul(log, target), 0 if log.ndim == 1 else 1))
    total = neg(sum(mul(log, target)))
    return total if reduction == "sum" else div(total, 1.0)


@traced
def nll_loss(
    log: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: object = None,
    ignore_index: int = -100,
    reduce: object = None,
    reduction: str = "mean",
) -> Tensor:
    """``F.nll_loss``; without a reduction one loss for each class."""
    wide = to_float32(log, log.role.made("log-probabilities", log.role.dims))
    if wide.ndim > 2:
        return _nll_loss_2d(wide, target, reduction)
    shape = target.shape if reduction == "none" else ()
    loss = empty(log.device, shape, wide.dtype, log.role.made("loss"))
    total = empty(log.device, (), wide.dtype, log.role.made("total weight of the loss"))

    def backward(g: Tensor, log: Tensor, *_saved: Tensor) -> list[Tensor | None]:
        return [empty(g.device, log.shape, log.dtype, log.role.gradient)]

    return record(loss, (wide,), backward, wide, target, total)


def _nll_loss_2d(log: Tensor, target: Tensor, reduction: str) -> Tensor:
    """Classes in the second dimension of several (cuda/NLLLoss2d.cu)."""
    source = contiguous(log)
    shape = target.shape if reduction == "none" else ()
    loss = empty(log.device, shape, log.dtype, log.role.made("loss"))
    total = empty(log.device, (), log.dtype, log.role.made("total weight of the loss"))

    def backward(g: Tensor, log: Tensor, *_saved: Tensor) -> list[Tensor | None]:
        return [empty(g.device, log.shape, log.dtype, log.role.gradient)]

    return record(loss, (source,), backward, source, target, total)


def mse_loss(
    x: Tensor,
    target: Tensor,
    size_average: object = None,
    reduce: object = None,
    reduction: str = "mean",
) -> Tensor:
    """``F.mse_loss``, and losses like it: float32 under autocast."""
    wide_target = to_float32(target)
    wide = to_float32(x)
    dtype = result_type(wide, wide_target)
    if reduction == "none":
        loss = elementwise(dtype, "loss", wide, wide_target)
    else:
        loss = empty(x.device, (), dtype, x.role.made("loss"))
        parts = elementwise(dtype, "loss", wide, wide_target)
        del parts
    needs = wide.requires_grad, wide_target.requires_grad

    def backward(g: Tensor, x: Tensor, target: Tensor) -> list[Tensor | None]:
        return [elementwise(dtype, "gradient", x, target) if each else None for each in needs]

    return record(loss, (wide, wide_target), backward, wide, wide_target)


def smooth_l1_loss(
    x: Tensor,
    target: Tensor,
    size_average: object = None,
    reduce: object = None,
    reduction: str = "mean",
    beta: Number = 1.0,
) -> Tensor:
    """``F.smooth_l1_loss``."""
    return mse_loss(x, target, None, None, reduction)


def huber_loss(x: Tensor, target: Tensor, reduction: str = "mean", delta: Number = 1.0) -> Tensor:
    """``F.huber_loss``."""
    return mse_loss(x, target, None, None, reduction)
