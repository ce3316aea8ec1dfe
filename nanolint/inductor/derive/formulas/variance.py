"""Variances: one pass of a reduction (torch/_inductor/lowering.py, var_mean_helper_)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.formulas.reductions import dimensions, mean, reduce
from nanolint.tensors.autograd import record, record_all
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.comparison import compare, where
from nanolint.tensors.ops.pointwise import add, div, mul, sub
from nanolint.tensors.ops.reductions import kept, reduced, restored
from nanolint.tensors.ops.unary import sqrt
from nanolint.tensors.ops.views import cast

if TYPE_CHECKING:
    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.tensors.dtypes import Number
    from nanolint.tensors.ops.reductions import Dimensions
    from nanolint.tensors.tensor import Tensor


def variance(
    t: Capture,
    x: Tensor,
    dim: Dimensions = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Tensor:
    """``aten.var``."""
    less = correction if correction is not None else int(unbiased)
    over = dimensions(x, dim)
    with t.device.no_grad():
        out = reduce(t, ops.VAR, x, over, keepdim, None, f"{less}")

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        return [_gradient(t, g, x, over, keepdim, less)]

    return record(out, (x,), backward, x)


def deviation(
    t: Capture,
    x: Tensor,
    dim: Dimensions = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Tensor:
    """``aten.std``, the root of the variance; no gradient flows if it is 0."""
    less = correction if correction is not None else int(unbiased)
    over = dimensions(x, dim)
    with t.device.no_grad():
        out = sqrt(reduce(t, ops.VAR, x, over, keepdim, None, f"{less}"))

    def backward(g: Tensor, x: Tensor, out: Tensor) -> list[Tensor | None]:
        quotient = div(g, mul(out, 2))
        flow = where(compare(out, 0), 0.0, quotient)
        return [_gradient(t, flow, x, over, keepdim, less)]

    return record(out, (x,), backward, x, out)


def var_mean(
    t: Capture,
    x: Tensor,
    dim: Dimensions = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> tuple[Tensor, Tensor]:
    """``aten.var_mean``: both of one kernel, and the sum of both gradients."""
    less = correction if correction is not None else int(unbiased)
    over = dimensions(x, dim)
    shape = x.shape
    with t.device.no_grad():
        small = reduced(shape, over, keepdim)
        results = [(small, None, FLOAT32, x.role.made(each)) for each in ("variance", "mean")]
        parts = t.several(ops.VAR_MEAN, (cast(x, FLOAT32),), results, over, keepdim, less)
        parts[0].made.cost = ops.VAR_MEAN.steps
        outs = [cast(each, x.dtype) for each in parts]

    def backward(of_var: Tensor | None, of_mean: Tensor | None, x: Tensor) -> list[Tensor | None]:
        found = None if of_var is None else _gradient(t, of_var, x, over, keepdim, less)
        if of_mean is not None:
            count = prod(shape[dim] for dim in over)
            other = div(restored(of_mean, shape, over, keepdim), count)
            found = other if found is None else add(found, other)
        return [found]

    variance, middle = record_all(outs, (x,), backward, x)
    return variance, middle


def _gradient(
    t: Capture, g: Tensor, x: Tensor, over: tuple[int, ...], keepdim: bool, less: Number
) -> Tensor:
    """``var_backward`` (torch/csrc/autograd/FunctionsManual.cpp)."""
    count = prod(x.shape[dim] for dim in over) - less
    scaled = mul(kept(g, x.shape, over, keepdim), 2 / count if count else 0.0)
    return mul(scaled, sub(x, mean(t, x, over, keepdim=True)))


FORMULAS: Formulas = {"std": deviation, "var": variance, "var_mean": var_mean}
