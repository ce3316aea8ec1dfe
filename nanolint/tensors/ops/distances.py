"""Losses that are written with other operations (aten/src/ATen/native/Loss.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors import refusing
from nanolint.tensors.autograd import record
from nanolint.tensors.ops.activations import logsigmoid, sigmoid
from nanolint.tensors.ops.conversion import to_float32
from nanolint.tensors.ops.legacy import says_reduction
from nanolint.tensors.ops.pointwise import div, elementwise, mul, sub
from nanolint.tensors.ops.reductions import mean, sum, vector_norm
from nanolint.tensors.ops.unary import abs, exp
from nanolint.tensors.ops.views import cast, clone
from nanolint.tensors.tensor import autograd_follows, empty
from nanolint.tensors.tracing import tracer_at
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from nanolint.tensors.tensor import Tensor


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
            entropy = elementwise(wide.dtype, "logarithm", wide_target)
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
        loss = elementwise(x.dtype, "loss", x, target)
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
