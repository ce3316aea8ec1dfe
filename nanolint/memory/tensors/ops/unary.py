"""Elementwise operations on one tensor (aten/src/ATen/native/UnaryOps.cpp, Activation.cpp).

Backward formulas are those of tools/autograd/derivatives.yaml. C++ keeps what a formula makes to
its end; so do the names here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import BOOL, FLOAT32, FLOATING, promote
from nanolint.memory.tensors.ops.autocast import to_float32
from nanolint.memory.tensors.ops.pointwise import div, elementwise, mul, neg, sub
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.tensors.tracing import traced

if TYPE_CHECKING:
    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.tensor import Tensor


def _floating(x: Tensor) -> Dtype:
    return x.dtype if x.dtype.kind >= FLOATING else FLOAT32


def _kernel(x: Tensor, label: str, *, saves_result: bool) -> Tensor:
    """An operation whose backward pass is one kernel on its input or on its result."""
    out = elementwise(_floating(x), label, x)
    role = x.role.gradient

    def backward(g: Tensor, saved: Tensor) -> list[Tensor | None]:
        return [elementwise(promote(g.dtype, saved.dtype), "", g, saved, role=role)]

    return record(out, (x,), backward, out if saves_result else x)


def gelu(x: Tensor) -> Tensor:
    """``F.gelu``, exact or by tanh."""
    return _kernel(x, "GELU output", saves_result=False)


def silu(x: Tensor) -> Tensor:
    """``F.silu``."""
    return _kernel(x, "SiLU output", saves_result=False)


def softplus(x: Tensor) -> Tensor:
    """``F.softplus``."""
    wide = to_float32(x)
    return _kernel(wide, "softplus output", saves_result=False)


def relu(x: Tensor) -> Tensor:
    """``F.relu``."""
    return _kernel(x, "ReLU output", saves_result=True)


def sigmoid(x: Tensor) -> Tensor:
    """``torch.sigmoid``."""
    return _kernel(x, "sigmoid output", saves_result=True)


def tanh(x: Tensor) -> Tensor:
    """``torch.tanh``."""
    return _kernel(x, "tanh output", saves_result=True)


def exp(x: Tensor) -> Tensor:
    """``torch.exp``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(_floating(wide), "exponential", wide)
    return record(out, (wide,), lambda g, out: [mul(g, out)], out)


def log(x: Tensor) -> Tensor:
    """``torch.log``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(_floating(wide), "logarithm", wide)
    return record(out, (wide,), lambda g, x: [div(g, x)], wide)


def sqrt(x: Tensor) -> Tensor:
    """``torch.sqrt``."""
    out = elementwise(_floating(x), "square root", x)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        twice = mul(out, 2)
        return [div(g, twice)]

    return record(out, (x,), backward, out)


def rsqrt(x: Tensor) -> Tensor:
    """``torch.rsqrt``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(_floating(wide), "reciprocal square root", wide)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        cube = elementwise(out.dtype, "power", out)
        half = mul(g, -0.5)
        return [mul(half, cube)]

    return record(out, (wide,), backward, out)


def reciprocal(x: Tensor) -> Tensor:
    """``torch.reciprocal``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(_floating(wide), "reciprocal", wide)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        square = mul(out, out)
        negative = neg(g)
        return [mul(negative, square)]

    return record(out, (wide,), backward, out)


def sin(x: Tensor) -> Tensor:
    """``torch.sin``."""
    out = elementwise(_floating(x), "sine", x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        cosine = cos(x)
        return [mul(g, cosine)]

    return record(out, (x,), backward, x)


def cos(x: Tensor) -> Tensor:
    """``torch.cos``."""
    out = elementwise(_floating(x), "cosine", x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        sine = sin(x)
        negative = neg(sine)
        return [mul(g, negative)]

    return record(out, (x,), backward, x)


def abs_(x: Tensor) -> Tensor:
    """``torch.abs``."""
    out = elementwise(x.dtype, "absolute value", x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        sign = elementwise(x.dtype, "sign", x)
        return [mul(g, sign)]

    return record(out, (x,), backward, x)


def power(x: Tensor, exponent: float) -> Tensor:
    """``x ** exponent`` for a number; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(_floating(wide), "power", wide)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        if exponent == 0:
            return [empty(g.device, g.shape, g.dtype, g.role)]
        smaller = elementwise(x.dtype, "power", x)
        scaled = mul(smaller, exponent)
        return [mul(g, scaled)]

    return record(out, (wide,), backward, wide)


def clamp(x: Tensor, bounds: int = 2) -> Tensor:
    """``x.clamp``, with a lower, an upper, or both ``bounds``."""
    out = elementwise(x.dtype, "clamped", x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        zero = empty(g.device, (), g.dtype, g.role)
        inside = [elementwise(BOOL, "comparison", x) for _ in range(bounds)]
        found = elementwise(g.dtype, "gradient", g, inside[0], role=g.role)
        del zero
        return [found]

    return record(out, (x,), backward, x)


@traced
def triangle(x: Tensor) -> Tensor:
    """``torch.tril`` and ``torch.triu``."""
    out = empty(x.device, x.shape, x.dtype, x.role.made("triangle"))
    return record(out, (x,), lambda g: [triangle(g)])


def log1p(x: Tensor) -> Tensor:
    """``torch.log1p``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(_floating(wide), "logarithm", wide)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        above = sub(x, -1)
        return [div(g, above)]

    return record(out, (wide,), backward, wide)
