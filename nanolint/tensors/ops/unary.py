"""Elementwise operations on one tensor (aten/src/ATen/native/UnaryOps.cpp, Activation.cpp).

Backward formulas are those of tools/autograd/derivatives.yaml; a name stands for each temporary
that C++ keeps to the end of a formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import BOOL, FLOATING, promote
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.comparison import isfinite
from nanolint.tensors.ops.conversion import to_float32
from nanolint.tensors.ops.creation import create, filled
from nanolint.tensors.ops.pointwise import add, div, elementwise, mul, neg, rsub, sub
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.ops.registry import Op


def sqrt(x: Tensor) -> Tensor:
    """``torch.sqrt``."""
    out = elementwise(floating(x), ops.SQRT, x)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        twice = mul(out, 2)
        return [div(g, twice)]

    return record(out, (x,), backward, out)


def rsqrt(x: Tensor) -> Tensor:
    """``torch.rsqrt``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), ops.RSQRT, wide)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        cube = elementwise(out.dtype, ops.POW, out, how="3")
        half = mul(g, -0.5)
        return [mul(half, cube)]

    return record(out, (wide,), backward, out)


def reciprocal(x: Tensor) -> Tensor:
    """``torch.reciprocal``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), ops.RECIPROCAL, wide)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        square = mul(out, out)
        negative = neg(g)
        return [mul(negative, square)]

    return record(out, (wide,), backward, out)


def sin(x: Tensor) -> Tensor:
    """``torch.sin``."""
    out = elementwise(floating(x), ops.SIN, x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        cosine = cos(x)
        return [mul(g, cosine)]

    return record(out, (x,), backward, x)


def cos(x: Tensor) -> Tensor:
    """``torch.cos``."""
    out = elementwise(floating(x), ops.COS, x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        sine = sin(x)
        negative = neg(sine)
        return [mul(g, negative)]

    return record(out, (x,), backward, x)


def tan(x: Tensor) -> Tensor:
    """``torch.tan``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), ops.TAN, wide)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        square = elementwise(out.dtype, ops.POW, out, how="2")
        above = add(square, 1)
        return [mul(g, above)]

    return record(out, (wide,), backward, out)


def hyperbolic(x: Tensor, op: Op) -> Tensor:
    """``torch.sinh`` and ``torch.cosh``, each the slope of the other; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), op, wide)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        slope = elementwise(x.dtype, ops.COSH if op is ops.SINH else ops.SINH, x)
        return [mul(g, slope)]

    return record(out, (wide,), backward, wide)


def atan(x: Tensor) -> Tensor:
    """``torch.atan``."""
    out = elementwise(floating(x), ops.ATAN, x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        square = mul(x, x)
        above = add(square, 1)
        return [div(g, above)]

    return record(out, (x,), backward, x)


def abs(x: Tensor) -> Tensor:
    """``torch.abs``."""
    out = elementwise(x.dtype, ops.ABS, x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        sign = elementwise(x.dtype, ops.SIGN, x)
        return [mul(g, sign)]

    return record(out, (x,), backward, x)


def error(x: Tensor, op: Op) -> Tensor:
    """``torch.erf`` and ``torch.erfc``."""
    out = elementwise(floating(x), op, x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        square = pow(x, 2)
        negative = neg(square)
        bell = exp(negative)
        scaled = mul(bell, 1.13)
        return [mul(scaled, g)]

    return record(out, (x,), backward, x)


def round(x: Tensor, *, decimals: int = 0) -> Tensor:
    """``torch.round``."""
    return in_steps(x, ops.ROUND, f"{decimals}")


def in_steps(x: Tensor, op: Op, how: str = "") -> Tensor:
    """``torch.sign``, ``floor``, ``ceil`` and ``trunc``, level wherever they have a slope: zeros
    flow back."""
    out = elementwise(x.dtype, op, x, how=how)

    def backward(g: Tensor) -> list[Tensor | None]:
        return [elementwise(g.dtype, ops.ZEROS_LIKE, g, role=g.role)]

    return record(out, (x,), backward)


def pow(x: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """``x ** exponent``; float32 under autocast."""
    if isinstance(exponent, Tensor):
        return _tensor_power(x, exponent)
    assert isinstance(x, Tensor)
    wide = to_float32(x)
    of_float = not isinstance(exponent, int)
    dtype = floating(wide) if of_float else wide.dtype
    out = elementwise(dtype, ops.POW, wide, how=f"{exponent}")

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        if exponent == 0:
            return [filled(g)]
        smaller = elementwise(x.dtype, ops.POW, x, how=f"{exponent - 1}")
        scaled = mul(smaller, exponent)
        return [mul(g, scaled)]

    return record(out, (wide,), backward, wide)


def square(x: Tensor) -> Tensor:
    """``torch.square``: ``x ** 2``."""
    return pow(x, 2)


def _tensor_power(x: Tensor | Number, exponent: Tensor) -> Tensor:
    """``x ** exponent`` for a tensor of exponents."""
    power = to_float32(exponent)
    base = to_float32(x) if isinstance(x, Tensor) else None
    dtype = floating(power) if base is None else promote(floating(power), base.dtype)
    number = x if base is None and x != 2 else base  # powers of 2 are a function of their own
    out = elementwise(dtype, ops.POW, *(each for each in (number, power) if each is not None))
    if base is None:
        number = create(out.device, (), dtype, out.role, ops.FULL)
        del number
    needs = base is not None and base.requires_grad, power.requires_grad

    def backward(
        g: Tensor, base: Tensor | None, power: Tensor, out: Tensor | None
    ) -> list[Tensor | None]:
        of_base = of_power = None
        if needs[1] and out is not None:
            of_power = mul(g, mul(out, 0.69)) if base is None else _of_power(g, base, power, out)
        if needs[0] and base is not None:
            of_base = _of_base(g, base, power)
        return [of_base, of_power]

    # What comes of it is kept where either learns: a guard is made for what was given alone
    # (tools/autograd/gen_variable_type.py, ``save_variables``).
    saved = base if any(needs) else None, power, out if any(needs) else None
    return record(out, (base, power), backward, *saved)


def _of_power(g: Tensor, base: Tensor, power: Tensor, out: Tensor) -> Tensor:
    """``pow_backward_exponent``."""
    positive = elementwise(BOOL, ops.GE, power)
    zero = elementwise(BOOL, ops.EQ, base)
    condition = elementwise(BOOL, ops.LOGICAL_AND, zero, positive)
    del positive, zero
    logarithm = log(base)
    product = mul(out, logarithm)
    nothing = filled(g, ())
    chosen = elementwise(product.dtype, ops.WHERE, condition, product)
    found = mul(g, chosen)
    del condition, logarithm, product, nothing, chosen
    return found


def _of_base(g: Tensor, base: Tensor, power: Tensor) -> Tensor:
    """``pow_backward_self``."""
    less = sub(power, 1)
    smaller = elementwise(base.dtype, ops.POW, base, less)
    product = mul(power, smaller)
    scaled = mul(g, product)
    nothing = filled(g, ())
    condition = elementwise(BOOL, ops.EQ, power)
    found = elementwise(scaled.dtype, ops.WHERE, condition, scaled)
    del less, smaller, product, scaled, nothing, condition
    return found


def rdiv(x: Tensor, other: Number) -> Tensor:
    """``other / x`` of a number: torch/_tensor.py, ``__rdiv__``."""
    return mul(reciprocal(x), other)


def rpow(x: Tensor, other: Number) -> Tensor:
    """``other ** x`` of a number."""
    return pow(other, x)


def nan_to_num(x: Tensor, nan: Number = 0.0) -> Tensor:
    """``torch.nan_to_num``."""
    out = elementwise(x.dtype, ops.NAN_TO_NUM, x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        mask = isfinite(x)
        return [mul(g, mask)]

    return record(out, (x,), backward, x)


def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """``torch.logit``."""
    del eps
    out = elementwise(floating(x), ops.LOGIT, x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        return [elementwise(g.dtype, ops.LOGIT_BACKWARD, g, x)]

    return record(out, (x,), backward, x)


def asin(x: Tensor) -> Tensor:
    """``torch.asin``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), ops.ASIN, wide)

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
    out = elementwise(floating(wide), ops.ACOS, wide)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        negative = neg(x)
        square = mul(negative, x)
        above = add(square, 1)
        root = rsqrt(above)
        downward = neg(root)
        return [mul(g, downward)]

    return record(out, (wide,), backward, wide)


def inverse_hyperbolic(x: Tensor, op: Op) -> Tensor:
    """``torch.asinh`` and ``torch.acosh``."""
    out = elementwise(floating(x), op, x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        square = pow(x, 2)
        below = add(square, 1) if op is ops.ASINH else sub(square, 1)
        root = rsqrt(below)
        return [mul(g, root)]

    return record(out, (x,), backward, x)


def atanh(x: Tensor) -> Tensor:
    """``torch.atanh``."""
    out = elementwise(floating(x), ops.ATANH, x)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        whole = mul(g, 1)
        square = pow(x, 2)
        rest = rsub(square, 1)
        return [div(whole, rest)]

    return record(out, (x,), backward, x)


def atan2(x: Tensor, other: Tensor) -> Tensor:
    """``torch.atan2``."""
    out = elementwise(floating(x), ops.ATAN2, x, other)
    needs = x.requires_grad, other.requires_grad

    def backward(g: Tensor, x: Tensor, other: Tensor) -> list[Tensor | None]:
        of_other = mul(other, other)
        of_this = mul(x, x)
        both = add(of_this, of_other)
        del of_this, of_other
        inverse = reciprocal(both)
        elementwise(BOOL, ops.EQ, both)  # where it is 0, it is filled in place
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


def floating(x: Tensor) -> Dtype:
    """The type of a function of ``x`` that is no integer."""
    return x.dtype if x.dtype.kind >= FLOATING else x.device.floats


def exp(x: Tensor) -> Tensor:
    """``torch.exp``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), ops.EXP, wide)
    return record(out, (wide,), lambda g, out: [mul(g, out)], out)


def exp2(x: Tensor) -> Tensor:
    """``torch.exp2``."""
    out = elementwise(floating(x), ops.EXP2, x)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        once = mul(g, out)
        return [mul(once, 0.69)]

    return record(out, (x,), backward, out)


def expm1(x: Tensor) -> Tensor:
    """``torch.expm1``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), ops.EXPM1, wide)

    def backward(g: Tensor, out: Tensor) -> list[Tensor | None]:
        above = add(out, 1)
        return [mul(g, above)]

    return record(out, (wide,), backward, out)


def log(x: Tensor) -> Tensor:
    """``torch.log``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), ops.LOG, wide)
    return record(out, (wide,), lambda g, x: [div(g, x)], wide)


def logarithm(x: Tensor, op: Op) -> Tensor:
    """``torch.log2`` and ``torch.log10``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), op, wide)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        scaled = mul(x, 0.69)
        return [div(g, scaled)]

    return record(out, (wide,), backward, wide)


def log1p(x: Tensor) -> Tensor:
    """``torch.log1p``; float32 under autocast."""
    wide = to_float32(x)
    out = elementwise(floating(wide), ops.LOG1P, wide)

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        above = add(x, 1)
        return [div(g, above)]

    return record(out, (wide,), backward, wide)


def logaddexp(x: Tensor, other: Tensor) -> Tensor:
    """``torch.logaddexp``."""
    out = elementwise(promote(x.dtype, other.dtype), ops.LOGADDEXP, x, other)
    needs = x.requires_grad, other.requires_grad

    def backward(g: Tensor, x: Tensor, y: Tensor) -> list[Tensor | None]:
        return [None if not each else _share(g, x, y) for each in reversed(needs)][::-1]

    return record(out, (x, other), backward, x, other)


def _share(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    difference = rsub(x, y)
    exponential = exp(difference)
    above = add(exponential, 1)
    return div(g, above)
