"""Losses that are written with other operations (aten/src/ATen/native/Loss.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.ops.autocast import to_float32
from nanolint.memory.tensors.ops.exponentials import exp
from nanolint.memory.tensors.ops.pointwise import div, elementwise, mul, sub
from nanolint.memory.tensors.ops.reductions import mean, sum, vector_norm
from nanolint.memory.tensors.ops.unary import abs
from nanolint.memory.tensors.ops.views import clone
from nanolint.memory.tensors.tensor import autograd_follows
from nanolint.memory.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from nanolint.memory.tensors.tensor import Tensor


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


def _reduced(each: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return each
    return mean(each) if reduction == "mean" else sum(each)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """``F.cosine_similarity`` of what does not learn: float32 under autocast (Distance.cpp).

    Temporaries of C++ live to the end of the expression: the quotients to the end of the sum.
    """
    if autograd_follows(x1.device, (x1, x2)):
        raise NotModelled("cosine_similarity of what learns")
    other = to_float32(x2)
    one = to_float32(x1)
    with x1.device.uncast():
        norm_of_one = clone(vector_norm(one, 2, (dim,), keepdim=True))
        norm_of_other = clone(vector_norm(other, 2, (dim,), keepdim=True))
        quotient = div(one, norm_of_one)
        other_quotient = div(other, norm_of_other)
        product = mul(quotient, other_quotient)
        return sum(product, dim)
