"""Softmax and losses (aten/src/ATen/native/SoftMax.cpp, LossNLL.cpp, Loss.cpp, cuda/SoftMax.cu)."""

from __future__ import annotations

import typing
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

from nanolint.tensors import refusing
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import BOOL, FLOAT16, FLOAT32, FLOATING, INT64, UINT8
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.activations import logsigmoid, sigmoid
from nanolint.tensors.ops.comparison import bitwise_not, check, compare
from nanolint.tensors.ops.conversion import to_float32
from nanolint.tensors.ops.creation import create, rand_like, zeros_like
from nanolint.tensors.ops.inplace import masked_fill_, scatter_
from nanolint.tensors.ops.pointwise import add, div, elementwise, mul, neg, result_type, sub
from nanolint.tensors.ops.reductions import mean, sum, vector_norm
from nanolint.tensors.ops.sorting import Chosen, max
from nanolint.tensors.ops.sums import reduction as reduction_scratch
from nanolint.tensors.ops.unary import abs, exp, log
from nanolint.tensors.ops.views import cast, clone, contiguous, reshape
from nanolint.tensors.tensor import autograd_follows, empty
from nanolint.tensors.tracing import traced, tracer_at
from nanolint.tensors.unknown import NotModelled, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor

Loss = TypeVar("Loss", bound="Callable[..., Any]")


def says_reduction(loss: Loss) -> Loss:
    """Let ``size_average`` and ``reduce`` of a loss stand for its ``reduction``."""
    names = list(signature(loss).parameters)

    @wraps(loss)
    def call(*given: Any, **named: Any) -> Any:
        values = dict(zip(names, given, strict=False)) | named
        average, reduces = values.get("size_average"), values.get("reduce")
        if average is None and reduces is None:
            return loss(*given, **named)
        values |= {"size_average": None, "reduce": None}
        values["reduction"] = _reduction(average in (None, True), reduces in (None, True))
        return loss(values.pop(names[0]), values.pop(names[1]), **values)

    return typing.cast("Loss", call)


def _reduction(averages: bool, reduces: bool) -> str:
    if not reduces:
        return "none"
    return "mean" if averages else "sum"


@says_reduction
def l1_loss(
    x: Tensor,
    target: Tensor,
    size_average: object = None,
    reduce: object = None,
    reduction: str = "mean",
) -> Tensor:
    """``F.l1_loss``: float32 under autocast."""
    wide_target = to_float32(target)
    wide = to_float32(x)
    with x.device.uncast():
        difference = sub(wide, wide_target)
        absolute = abs(difference)
        return _reduced(absolute, reduction)


@says_reduction
def kl_div(
    x: Tensor,
    target: Tensor,
    size_average: object = None,
    reduce: object = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """``F.kl_div``, of a target that learns for its logarithm alone: float32 under autocast."""
    if target.requires_grad and not log_target:
        raise NotModelled("kl_div of a target that learns")
    rows = x.shape[0]
    wide_target = to_float32(target)
    wide = to_float32(x)
    with x.device.uncast():
        if log_target:
            difference = sub(wide_target, wide)
            weight = exp(wide_target)
            each = mul(weight, difference)
            del weight, difference
        else:
            entropy = elementwise(wide.dtype, ops.XLOGY, wide_target)
            product = mul(wide_target, wide)
            each = sub(entropy, product)
            del entropy, product
        total = _reduced(each, "sum" if reduction == "batchmean" else reduction)
        del each
    return div(total, rows) if reduction == "batchmean" else total


@says_reduction
def binary_cross_entropy_with_logits(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: object = None,
    reduce: object = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """``F.binary_cross_entropy_with_logits`` without weights, of a target that does not learn:
    float32 under autocast."""
    _refuse_others("binary_cross_entropy_with_logits", target, weight, pos_weight)
    refusing.of_one_shape(x, target)
    wide_target = to_float32(target)
    wide = to_float32(x)
    is_traced = tracer_at(x.device) is not None
    with x.device.uncast(), x.device.no_grad():
        logarithm = logsigmoid(wide)
        loss = sub(1, wide_target)  # into which all the rest is written
        if is_traced:
            loss = cast(sub(mul(loss, wide), logarithm), wide_target.dtype)
        out = _reduced(loss, reduction)
        del loss, logarithm
    count = wide.numel if reduction == "mean" else 1

    def backward(g: Tensor, x: Tensor, target: Tensor) -> list[Tensor | None]:
        slope = sigmoid(x)
        if is_traced:
            slope = mul(sub(slope, target), g)
        return [slope if count == 1 else div(slope, count)]

    return record(out, (wide,), backward, wide, wide_target)


@says_reduction
def binary_cross_entropy(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: object = None,
    reduce: object = None,
    reduction: str = "mean",
) -> Tensor:
    """``F.binary_cross_entropy`` without weights, of a target that does not learn
    (aten/src/ATen/native/cuda/Loss.cu): autocast refuses it."""
    _refuse_others("binary_cross_entropy", target, weight)
    refusing.of_one_shape(x, target)
    if x.shape != target.shape or x.dtype is not target.dtype:
        raise NotModelled("binary_cross_entropy of another shape or type")
    if not (x.is_contiguous and target.is_contiguous):
        raise NotModelled("binary_cross_entropy of a tensor that is not contiguous")
    if x.device.half is not None or tracer_at(x.device) is not None:
        raise NotModelled("binary_cross_entropy under autocast or torch.compile")
    with x.device.no_grad():
        loss = elementwise(x.dtype, ops.BINARY_CROSS_ENTROPY, x, target)
        if reduction != "none":
            _reduced(loss, reduction)
            loss.shape, loss.strides = (), ()  # it keeps its memory

    def backward(g: Tensor, x: Tensor, target: Tensor) -> list[Tensor | None]:
        return [empty(g.device, x.shape, x.dtype, x.role.gradient)]

    return record(loss, (x,), backward, x, target)


def _refuse_others(name: str, target: Tensor, *weights: Tensor | None) -> None:
    if any(each is not None for each in weights):
        raise NotModelled(f"{name} with weights")
    if target.requires_grad:
        raise NotModelled(f"{name} of a target that learns")


def _reduced(each: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return each
    return mean(each) if reduction == "mean" else sum(each)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """``F.cosine_similarity`` of what does not learn: float32 under autocast (Distance.cpp).

    Temporaries of C++ live to the end of the expression: the quotients to the end of the sum.
    """
    if autograd_follows(x1.device, (x1, x2)):
        raise NotModelled("cosine_similarity of a trainable tensor")
    other = to_float32(x2)
    one = to_float32(x1)
    with x1.device.uncast():
        norm_of_one = clone(vector_norm(one, 2, (dim,), keepdim=True))
        norm_of_other = clone(vector_norm(other, 2, (dim,), keepdim=True))
        quotient = div(one, norm_of_one)
        other_quotient = div(other, norm_of_other)
        product = mul(quotient, other_quotient)
        return sum(product, dim)


def softmax(
    x: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """``F.softmax``: float32 under autocast. Its result is what it saves."""
    return _softmax(x, dtype or _autocast_type(x), "softmax output", dim=dim, multiplies=True)


def log_softmax(
    x: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """``F.log_softmax``: float32 under autocast."""
    return _softmax(x, dtype or _autocast_type(x), "log_softmax", dim=dim, multiplies=False)


def softmin(
    x: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """``F.softmin``."""
    return softmax(neg(x), dim, dtype=dtype)


def gumbel_softmax(
    x: Tensor, tau: Number = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """``F.gumbel_softmax`` (torch/nn/functional.py)."""
    noise = neg(log(rand_like(x.detach())))
    noisy = add(x, noise)
    noise = div(noisy, tau)
    del noisy
    soft = softmax(noise, dim)
    if not hard:
        return soft
    chosen = max(soft, dim, keepdim=True)
    assert isinstance(chosen, Chosen)
    index = chosen.indices
    del chosen
    one = scatter_(zeros_like(x.detach()), dim, index, 1.0)
    difference = sub(one, soft.detach())
    return add(difference, soft)


@traced
def safe_softmax(x: Tensor) -> Tensor:
    """``_safe_softmax``: rows of minus infinity become zeros."""
    out = _softmax(x.detach(), None, "softmax output", dim=-1, multiplies=True)
    masked = check(x, ops.ISNEGINF)
    rows = empty(x.device, (*x.shape[:-1], 1), BOOL, x.role.made("truth"))
    zero = create(x.device, (), x.dtype, x.role.made("number"), ops.FULL)
    del masked, rows, zero
    role = x.role.gradient

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        return [_softmax_gradient(g, out, out.dtype, role)]

    return record(out, (x,), backward, out)


def _autocast_type(x: Tensor) -> Dtype | None:
    return None if x.device.half is None else FLOAT32


@traced
def _softmax(
    x: Tensor, dtype: Dtype | None, label: str, *, dim: int | None, multiplies: bool
) -> Tensor:
    """``multiplies``: the backward pass makes a buffer of the gradient times the result. It is as
    much over each dimension."""
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


@says_reduction
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
    if weight is not None and target.dtype.kind == FLOATING:
        raise NotModelled("cross_entropy of weighted classes whose targets are probabilities")
    if weight is not None and label_smoothing and reduction == "mean":
        raise NotModelled("the mean of a smoothed cross_entropy of weighted classes")
    log = log_softmax(logits, 0 if logits.ndim == 1 else 1, dtype=logits.dtype)
    if logits.shape == target.shape and target.dtype.kind == FLOATING:
        return _of_probabilities(log, target, reduction, label_smoothing)
    loss = nll_loss(log, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return loss
    along = 0 if log.ndim == 1 else 1
    weighed = log
    if weight is not None:
        weighed = mul(log, reshape(weight, (-1, *(1,) * (log.ndim - along - 1))))
    total = sum(weighed, along)
    smooth = neg(total)
    del total, weighed
    ignored = compare(target, ignore_index)
    masked_fill_(smooth, ignored, 0.0)
    spread = smooth
    if reduction == "mean":
        counted = bitwise_not(ignored)
        count = sum(counted)
        total = sum(smooth)
        spread = div(total, count)
        del total, counted, count
    elif reduction == "sum":
        spread = sum(smooth)
    share, rest = mul(spread, label_smoothing), mul(loss, 1 - label_smoothing)
    return add(rest, share)


def _of_probabilities(
    log: Tensor, target: Tensor, reduction: str, label_smoothing: float
) -> Tensor:
    if label_smoothing:
        raise NotModelled("label smoothing of probabilities")
    product = mul(log, target)
    total = sum(product, 0 if log.ndim == 1 else 1) if reduction == "none" else sum(product)
    negative = neg(total)
    found = div(negative, 1.0) if reduction == "mean" else negative
    del product, total, negative
    return found


@says_reduction
def nll_loss(
    log: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: object = None,
    ignore_index: int = -100,
    reduce: object = None,
    reduction: str = "mean",
) -> Tensor:
    """``F.nll_loss``; without a reduction one loss for each class.

    Raises Refused, compiled too, for classes that PyTorch refuses, as LossNLL.cpp does.
    """
    if target.dtype not in (INT64, UINT8):
        name = refusing.scalar_name(target.dtype)
        raise Refused(f"expected target dtype to be Long or Byte, but got {name}")
    fitting = (*log.shape[:-1][:1], *log.shape[2:])
    if fitting[:1] != target.shape[:1]:
        rows, of = log.shape[0], target.shape[0] if target.shape else 1
        raise Refused(
            f"Expected input batch_size ({rows}) to match target batch_size ({of}).", ValueError
        )
    if fitting != target.shape:
        raise Refused(f"Expected target size {[*fitting]}, got {[*target.shape]}")
    if weight is not None and weight.shape != (log.shape[min(1, log.ndim - 1)],):
        raise Refused(
            f"weight tensor should be defined either for all {log.shape[min(1, log.ndim - 1)]} "
            "classes or no classes but got weight tensor of shape: "
            f"{refusing.sizes(weight.shape)}"
        )
    return nll_loss_nd(log, target, weight, ignore_index, reduction)


@traced
def nll_loss_nd(
    log: Tensor, target: Tensor, weight: Tensor | None, _ignore_index: int, reduction: str
) -> Tensor:
    scale = None if weight is None else to_float32(weight)
    wide = to_float32(log, log.role.made("log-probabilities", log.role.dims))
    if wide.ndim > 2:
        return _nll_loss_2d(wide, target, reduction)
    shape = target.shape if reduction == "none" else ()
    loss = empty(log.device, shape, wide.dtype, log.role.made("loss"))
    total = empty(log.device, (), wide.dtype, log.role.made("total weight of the loss"))

    def backward(g: Tensor, log: Tensor, *_saved: Tensor) -> list[Tensor | None]:
        return [empty(g.device, log.shape, log.dtype, log.role.gradient)]

    return record(loss, (wide,), backward, wide, target, total, scale)


def _nll_loss_2d(log: Tensor, target: Tensor, reduction: str) -> Tensor:
    """Classes in the second dimension of several (cuda/NLLLoss2d.cu)."""
    source = contiguous(log)
    shape = target.shape if reduction == "none" else ()
    total = empty(log.device, (), log.dtype, log.role.made("total weight of the loss"))
    loss = empty(log.device, shape, log.dtype, log.role.made("loss"))

    def backward(g: Tensor, log: Tensor, *_saved: Tensor) -> list[Tensor | None]:
        return [empty(g.device, log.shape, log.dtype, log.role.gradient)]

    return record(loss, (source,), backward, source, target, total)


@says_reduction
@traced
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
        loss = elementwise(dtype, ops.MSE_LOSS, wide, wide_target)
    else:
        # The result keeps the memory of as many elements as the arguments have.
        loss = elementwise(dtype, ops.MSE_LOSS, wide, wide_target)
        parts = elementwise(dtype, ops.MSE_LOSS, wide, wide_target)
        reduction_scratch(parts, range(parts.ndim))
        del parts
        loss.shape, loss.strides = (), ()
    needs = wide.requires_grad, wide_target.requires_grad

    def backward(g: Tensor, x: Tensor, target: Tensor) -> list[Tensor | None]:
        return [
            empty(g.device, each.shape, each.dtype, each.role.gradient) if needed else None
            for needed, each in zip(needs, (x, target), strict=True)
        ]

    return record(loss, (wide, wide_target), backward, wide, wide_target)


@says_reduction
def smooth_l1_loss(
    x: Tensor,
    target: Tensor,
    size_average: object = None,
    reduce: object = None,
    reduction: str = "mean",
    beta: Number = 1.0,
) -> Tensor:
    """``F.smooth_l1_loss``, which is ``l1_loss`` if nothing is small."""
    if beta == 0:
        return l1_loss(x, target, None, None, reduction)
    return _smooth_l1(x, target, reduction, beta)


@traced
def _smooth_l1(x: Tensor, target: Tensor, reduction: str, _beta: Number) -> Tensor:
    return mse_loss(x, target, None, None, reduction)


@traced
def huber_loss(x: Tensor, target: Tensor, reduction: str = "mean", delta: Number = 1.0) -> Tensor:
    """``F.huber_loss``."""
    return mse_loss(x, target, None, None, reduction)
