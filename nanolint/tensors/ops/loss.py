"""Softmax and losses (aten/src/ATen/native/SoftMax.cpp, LossNLL.cpp, Loss.cpp, cuda/SoftMax.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors import refusing
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import BOOL, FLOAT16, FLOAT32, FLOATING, INT64, UINT8
from nanolint.tensors.ops.comparison import bitwise_not, check, compare
from nanolint.tensors.ops.conversion import to_float32
from nanolint.tensors.ops.creation import create, rand_like, zeros_like
from nanolint.tensors.ops.distances import l1_loss
from nanolint.tensors.ops.inplace import masked_fill_, scatter_
from nanolint.tensors.ops.legacy import says_reduction
from nanolint.tensors.ops.pointwise import add, div, elementwise, mul, neg, result_type, sub
from nanolint.tensors.ops.reductions import sum
from nanolint.tensors.ops.sorting import Chosen, max
from nanolint.tensors.ops.sums import reduction as reduction_scratch
from nanolint.tensors.ops.unary import log
from nanolint.tensors.ops.views import cast, contiguous, reshape
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced
from nanolint.tensors.unknown import NotModelled, Refused

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor


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
    masked = check(x)
    rows = empty(x.device, (*x.shape[:-1], 1), BOOL, x.role.made("truth"))
    zero = create(x.device, (), x.dtype, x.role.made("number"), "full")
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
    ignored = compare(target, ignore_index, how="eq")
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
        loss = elementwise(dtype, "loss", wide, wide_target)
    else:
        # The result keeps the memory of as many elements as the arguments have.
        loss = elementwise(dtype, "loss", wide, wide_target)
        parts = elementwise(dtype, "loss", wide, wide_target)
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
