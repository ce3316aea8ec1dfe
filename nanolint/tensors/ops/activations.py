"""Activations and dropout (aten/src/ATen/native/Activation.cpp, Dropout.cpp, cuda/Dropout.cu).

Activations: a kernel forward, a kernel back (aten/src/ATen/native/Activation.cpp).

Dropout (aten/src/ATen/native/Dropout.cpp and cuda/Dropout.cu).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.autograd import record, record_all
from nanolint.tensors.device import NotTraced
from nanolint.tensors.dtypes import BOOL, FLOAT32, promote
from nanolint.tensors.layout import like_strides, normalized
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.comparison import compare, where
from nanolint.tensors.ops.conversion import to_float32, to_half
from nanolint.tensors.ops.creation import filled
from nanolint.tensors.ops.inplace import mul_, relu_, relu_backward, written
from nanolint.tensors.ops.pointwise import add, div, elementwise, mul, sub
from nanolint.tensors.ops.unary import abs, exp, expm1, floating
from nanolint.tensors.ops.views import cast, reshape
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced, tracer_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.tensors.dtypes import Number
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor


def _kernel(
    x: Tensor,
    op: Op,
    *,
    saves_result: bool = False,
    bounds: tuple[Number, ...] = (),
    slope: Callable[[Tensor], Tensor] | None = None,
    chooses: bool = False,
    inplace: bool = False,
    how: str = "",
) -> Tensor:
    """An operation whose backward pass is one kernel on its input or on its result.

    In place it needs no room but for a copy of its input, where the backward pass asks for that.

    With ``bounds`` the gradient depends on whether the input lies between these numbers: traced,
    that is a comparison of its own (torch/_decomp/decompositions.py), which may be what is kept.
    With ``slope``, of what is saved, it is the gradient times that when traced: in float32. Where
    it ``chooses`` by a comparison of what is saved, it lies as that, when traced.
    """
    role, gradient = x.role.gradient, op.gradient
    assert gradient is not None

    def backward(g: Tensor, saved: Tensor) -> list[Tensor | None]:
        if bounds and tracer_at(g.device) is not None:
            masks = [
                compare(saved, bound, beyond)
                for bound, beyond in zip(bounds, (ops.GT, ops.LT), strict=False)
            ]
            inside = masks[0] if len(bounds) == 1 else compare(masks[0], masks[1], ops.LOGICAL_AND)
            return [where(inside, 0.0, elementwise(g.dtype, gradient, g, role=role, how=how))]
        dtype = promote(g.dtype, saved.dtype)
        if slope is not None and tracer_at(g.device) is not None:
            wide = promote(dtype, FLOAT32)
            factor = slope(cast(saved, wide))
            return [cast(mul(cast(g, wide), factor, role=role), dtype, role)]
        backwards = chooses and tracer_at(g.device) is not None
        return [elementwise(dtype, gradient, g, saved, role=role, how=how, backwards=backwards)]

    learns = x.device.grad_enabled and x.requires_grad
    if inplace and (saves_result or not learns):
        return written(x, (x,), backward, x)
    out = elementwise(floating(x), op, x, how=how)
    if inplace and tracer_at(x.device) is None:
        return written(x, (x,), backward, out)
    return record(out, (x,), backward, out if saves_result else x)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """``F.gelu``, exact or by tanh."""
    op = ops.GELU if approximate == "none" else ops.GELU_TANH
    return _kernel(x, op)


def smooth(x: Tensor, inplace: bool = False, *, op: Op) -> Tensor:
    """``F.silu`` and ``F.mish``."""
    return _kernel(x, op, inplace=inplace)


def softplus(x: Tensor, beta: Number = 1, threshold: Number = 20) -> Tensor:
    """``F.softplus``; float32 under autocast."""
    wide = to_float32(x)
    how = f"{beta} {threshold}"
    return _kernel(wide, ops.SOFTPLUS, chooses=True, how=how)


def relu(x: Tensor, inplace: bool = False) -> Tensor:
    """``F.relu``."""
    if inplace:
        return relu_(x)
    out = elementwise(floating(x), ops.RELU, x)
    return record(out, (x,), relu_backward(x.role.gradient), out)


def sigmoid(x: Tensor) -> Tensor:
    """``torch.sigmoid``."""
    return _kernel(x, ops.SIGMOID, saves_result=True, slope=lambda y: mul(y, sub(1, y)))


def tanh(x: Tensor) -> Tensor:
    """``torch.tanh``."""
    return _kernel(x, ops.TANH, saves_result=True, slope=lambda y: sub(1, mul(y, y)))


def leaky_relu(x: Tensor, negative_slope: Number = 0.01, inplace: bool = False) -> Tensor:
    """``F.leaky_relu``."""
    if not inplace and tracer_at(x.device) is not None:
        return _chosen_by_sign(x, negative_slope)
    how = f"{negative_slope}"
    return _kernel(x, ops.LEAKY_RELU, saves_result=inplace, bounds=(0,), inplace=inplace, how=how)


def _chosen_by_sign(x: Tensor, slope: Number) -> Tensor:
    """``F.leaky_relu`` in a graph: a comparison, in float32, that the gradient asks for again
    (torch/_refs/nn/functional/__init__.py, torch/_decomp/decompositions.py)."""
    wide, dtype = promote(x.dtype, FLOAT32), x.dtype

    def chosen(by: Tensor, of: Tensor, role: Role) -> Tensor:
        mask, value = compare(cast(by, wide), 0, ops.GT), cast(of, wide)
        return cast(where(mask, value, mul(value, slope)), dtype, role)

    with x.device.no_grad():
        out = chosen(x, x, x.role.made("leaky ReLU output"))
    return record(out, (x,), lambda g, x: [chosen(x, g, x.role.gradient)], x)


def elu(x: Tensor, alpha: Number = 1.0, inplace: bool = False) -> Tensor:
    """``F.elu``."""
    if tracer_at(x.device) is not None and not inplace:
        return _elu_by_choices(x, alpha)
    return _elu(x, f"{alpha}", inplace=inplace)


def _elu(x: Tensor, how: str, *, inplace: bool) -> Tensor:
    return _kernel(x, ops.ELU, saves_result=inplace, chooses=True, inplace=inplace, how=how)


def _elu_by_choices(x: Tensor, alpha: Number) -> Tensor:
    """``F.elu`` as it is traced, in float32 (torch/_refs/nn/functional, torch/_decomp)."""

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        wide, slope = cast(x, FLOAT32), mul(cast(g, FLOAT32), 1)
        below = mul(mul(slope, alpha), exp(mul(wide, 1)))
        found = where(compare(wide, 0, ops.LE), below, slope)
        return [cast(found, g.dtype, x.role.gradient)]

    with x.device.no_grad():
        wide = cast(x, FLOAT32)
        below = mul(expm1(mul(wide, 1)), alpha)
        found = where(compare(wide, 0, ops.GT), mul(wide, 1), below)
        out = cast(found, floating(x), x.role.made("ELU output"))
    return record(out, (x,), backward, x)


def hardtanh(
    x: Tensor, min_val: Number = -1.0, max_val: Number = 1.0, inplace: bool = False
) -> Tensor:
    """``F.hardtanh`` and ``F.relu6``."""
    bounds = min_val, max_val
    how = f"{min_val} {max_val}"
    return _kernel(x, ops.HARDTANH, bounds=bounds, inplace=inplace, how=how)


def hardswish(x: Tensor, inplace: bool = False) -> Tensor:
    """``F.hardswish``."""
    return _kernel(x, ops.HARDSWISH, chooses=True, inplace=inplace)


def hardsigmoid(x: Tensor, inplace: bool = False) -> Tensor:
    """``F.hardsigmoid``."""
    bounds = -3.0, 3.0
    return _kernel(x, ops.HARDSIGMOID, bounds=bounds, inplace=inplace)


def selu(x: Tensor, inplace: bool = False) -> Tensor:
    """``F.selu``, which is ``elu`` with other numbers."""
    return _elu(x, "selu", inplace=inplace)


def celu(x: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``F.celu``: another of them."""
    return _elu(x, f"celu {alpha}", inplace=inplace)


def softsign(x: Tensor) -> Tensor:
    """``F.softsign``: written with other operations."""
    absolute = abs(x)
    below = add(absolute, 1)
    del absolute
    return div(x, below)


def threshold(x: Tensor, threshold: Number, value: Number, inplace: bool = False) -> Tensor:
    """``F.threshold``."""
    bounds, how = (threshold,), f"{threshold} to {value}"
    return _kernel(x, ops.THRESHOLD, bounds=bounds, inplace=inplace, how=how)


@traced
def logsigmoid(x: Tensor) -> Tensor:
    """``F.logsigmoid``: the buffer that it saves is empty on CUDA."""
    return _kernel(x, ops.LOG_SIGMOID)


def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """``F.prelu``: both gradients are of the shape of the input, that of the weight is summed."""
    if tracer_at(x.device) is not None:
        raise NotTraced("prelu")
    slope = to_half(weight)
    values = to_half(x)
    if slope.ndim != x.ndim:
        slope = reshape(slope, tuple(slope.numel if dim == 1 else 1 for dim in range(x.ndim)))
    out = elementwise(values.dtype, ops.PRELU, values, slope)
    roles = x.role.gradient, weight.role.gradient

    def backward(g: Tensor, x: Tensor, slope: Tensor) -> list[Tensor | None]:
        return [elementwise(x.dtype, ops.PRELU_BACKWARD, g, x, slope, role=role) for role in roles]

    return record(out, (values, slope), backward, values, slope)


@traced
def glu(x: Tensor, dim: int = -1) -> Tensor:
    """``F.glu``: one half times the sigmoid of the other."""
    along = normalized(dim, x.ndim)
    half = x.shape[along] // 2
    shape = (*x.shape[:along], half, *x.shape[along + 1 :])
    out = empty(x.device, shape, x.dtype, x.role.made("GLU output"))
    role = x.role.gradient

    def backward(g: Tensor, x: Tensor) -> list[Tensor | None]:
        return [empty(g.device, x.shape, x.dtype, role)]

    return record(out, (x,), backward, x)


@traced
def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """``F.dropout``: ``x`` itself unless it drops something; times 0 if it drops all."""
    if not (training and p > 0):
        return x
    if p == 1:
        nothing = filled(x, ())
        return mul_(x, nothing) if inplace else mul(x, nothing)
    if inplace:
        noise = empty(x.device, x.shape, x.dtype, x.role.made("dropout noise"))
        return mul_(x, noise)
    device, dims = x.device, x.role.dims
    mask = empty(device, x.shape, BOOL, x.role.made("dropout mask", dims))
    strides = like_strides(x.shape, x.strides)
    out = empty(device, x.shape, x.dtype, x.role.made("dropout output", dims), strides)

    def backward(_of_mask: None, g: Tensor, _mask: Tensor) -> list[Tensor | None]:
        return [empty(g.device, g.shape, g.dtype, g.role)]

    return record_all((mask, out), (x,), backward, mask)[1]
