"""Inverse functions of one tensor (aten/src/ATen/native/UnaryOps.cpp, BinaryOps.cpp).

Backward formulas are those of tools/autograd/derivatives.yaml; a name stands for each temporary
that C++ keeps to the end of a formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import BOOL
from nanolint.tensors.ops.autocast import to_float32
from nanolint.tensors.ops.exponentials import floating
from nanolint.tensors.ops.pointwise import add, div, elementwise, mul, neg, rsub, sub
from nanolint.tensors.ops.unary import pow, reciprocal, rsqrt

if TYPE_CHECKING:
    from nanolint.tensors.tensor import Tensor


def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """``torch.logit``."""
    del eps
    out = elementwise(floating(x), "logit", x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        return [elementwise(g.dtype, "gradient of the logit", g, x)]

    return record(out, (x,), backward, x)


def asin(x: Tensor) -> Tensor:
    """``torch.asin``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), "arcsine", wide)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        negative = neg(x)
        square = mul(negative, x)
        above = add(square, 1)
        root = rsqrt(above)
        return [mul(g, root)]

    return record(out, (wide,), backward, wide)


def acos(x: Tensor) -> Tensor:
    """``torch.acos``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), "arccosine", wide)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        negative = neg(x)
        square = mul(negative, x)
        above = add(square, 1)
        root = rsqrt(above)
        downward = neg(root)
        return [mul(g, downward)]

    return record(out, (wide,), backward, wide)


def asinh(x: Tensor) -> Tensor:
    """``torch.asinh``."""
    out = elementwise(floating(x), "inverse hyperbolic sine", x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        square = pow(x, 2)
        above = add(square, 1)
        root = rsqrt(above)
        return [mul(g, root)]

    return record(out, (x,), backward, x)


def acosh(x: Tensor) -> Tensor:
    """``torch.acosh``."""
    out = elementwise(floating(x), "inverse hyperbolic cosine", x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        square = pow(x, 2)
        below = sub(square, 1)
        root = rsqrt(below)
        return [mul(g, root)]

    return record(out, (x,), backward, x)


def atanh(x: Tensor) -> Tensor:
    """``torch.atanh``."""
    out = elementwise(floating(x), "inverse hyperbolic tangent", x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        whole = mul(g, 1)
        square = pow(x, 2)
        rest = rsub(square, 1)
        return [div(whole, rest)]

    return record(out, (x,), backward, x)


def atan2(x: Tensor, other: Tensor) -> Tensor:
    """``torch.atan2``."""
    out = elementwise(floating(x), "arctangent", x, other)
    needs = x.requires_grad, other.requires_grad

    def backward(g: Tensor, x: Tensor, other: Tensor) -> list[Tensor | None]:
        of_other = mul(other, other)
        of_this = mul(x, x)
        both = add(of_this, of_other)
        del of_this, of_other
        inverse = reciprocal(both)
        elementwise(BOOL, "comparison", both)  # where it is 0, it is filled in place
        found: list[Tensor | None] = [None, None]
        if needs[0]:
            product = mul(g, other)
            found[0] = mul(product, inverse)
        if needs[1]:
            negative = neg(x)
            downward = mul(g, negative)
            found[1] = mul(downward, inverse)
        return found

    return record(out, (x, other), backward, x, other)
