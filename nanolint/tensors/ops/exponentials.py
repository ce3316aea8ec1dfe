"""Exponentials and logarithms (aten/src/ATen/native/UnaryOps.cpp).

Backward formulas are those of tools/autograd/derivatives.yaml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import FLOATING, promote
from nanolint.tensors.ops.autocast import to_float32
from nanolint.tensors.ops.pointwise import add, div, elementwise, mul, rsub

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.tensor import Tensor


def floating(x: Tensor) -> Dtype:
    """The type of a function of ``x`` that is no integer."""
    return x.dtype if x.dtype.kind >= FLOATING else x.device.floats


def exp(x: Tensor) -> Tensor:
    """``torch.exp``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), "exponential", wide)
    return record(out, (wide,), lambda g, out: [mul(g, out)], out)


def exp2(x: Tensor) -> Tensor:
    """``torch.exp2``."""
    out = elementwise(floating(x), "exponential", x, how="2")

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        once = mul(g, out)
        return [mul(once, 0.69)]

    return record(out, (x,), backward, out)


def expm1(x: Tensor) -> Tensor:
    """``torch.expm1``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), "exponential", wide, how="minus 1")

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        above = add(out, 1)
        return [mul(g, above)]

    return record(out, (wide,), backward, out)


def log(x: Tensor) -> Tensor:
    """``torch.log``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), "logarithm", wide)
    return record(out, (wide,), lambda g, x: [div(g, x)], wide)


def log2(x: Tensor) -> Tensor:
    """``torch.log2``; float32 under autocast."""
    return _logarithm(x, "2")


def log10(x: Tensor) -> Tensor:
    """``torch.log10``; float32 under autocast."""
    return _logarithm(x, "10")


def _logarithm(x: Tensor, base: str) -> Tensor:
    wide = to_float32(x)
    out = elementwise(floating(wide), "logarithm", wide, how=base)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        scaled = mul(x, 0.69)
        return [div(g, scaled)]

    return record(out, (wide,), backward, wide)


def log1p(x: Tensor) -> Tensor:
    """``torch.log1p``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), "logarithm", wide, how="plus 1")

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        above = add(x, 1)
        return [div(g, above)]

    return record(out, (wide,), backward, wide)


def logaddexp(x: Tensor, other: Tensor) -> Tensor:
    """``torch.logaddexp``."""
    out = elementwise(promote(x.dtype, other.dtype), "logarithm", x, other)
    needs = x.requires_grad, other.requires_grad

    def backward(g: Tensor, x: Tensor, y: Tensor) -> list[Tensor | None]:
        return [None if not each else _share(g, x, y) for each in reversed(needs)][::-1]

    return record(out, (x, other), backward, x, other)


def _share(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    difference = rsub(x, y)
    exponential = exp(difference)
    above = add(exponential, 1)
    return div(g, above)
