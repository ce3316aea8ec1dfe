"""Views: other shapes on the same memory, and the copies where there is none.

A view holds its base, so that a gradient that is a view is never added to in place
(torch/csrc/autograd/VariableTypeUtils.h, ``as_view``). Backward formulas are those of
tools/autograd/derivatives.yaml.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.memory.tensors.autograd import record, record_all
from nanolint.memory.tensors.layout import (
    contiguous_strides,
    expanded_strides,
    like_strides,
    normalized,
    view_strides,
)
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.tensors.tracing import traced, tracer_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.layout import Shape, Strides
    from nanolint.memory.tensors.role import Role
    from nanolint.memory.tensors.tensor import Tensor

VIEW = ("view",)  # the same elements in the same order


def view(x: Tensor, shape: Shape) -> Tensor:
    """``x.view(shape)``; one size may be -1.

    Raises ValueError where only a copy has that shape.
    """
    shape = _completed(shape, x.numel)
    strides = view_strides(x.shape, x.strides, shape)
    if strides is None:
        raise ValueError(f"{x} with strides {x.strides} has no view of shape {shape}")
    return _view(x, VIEW, shape, strides, _reshaping(x.shape))


def reshape(x: Tensor, shape: Shape) -> Tensor:
    """``x.reshape(shape)``: a view where there is one, else a view of a copy in order."""
    shape = _completed(shape, x.numel)
    strides = view_strides(x.shape, x.strides, shape)
    if strides is not None:
        return _view(x, VIEW, shape, strides, _reshaping(x.shape))
    return unsafe_view(clone(x), shape)


def unsafe_view(x: Tensor, shape: Shape) -> Tensor:
    """A view of a tensor that nobody will see again: autograd takes it for the tensor itself."""
    out = _view(x, VIEW, shape, contiguous_strides(shape), _reshaping(x.shape))
    out.is_view = False
    return out


def flatten(x: Tensor, start: int = 0, end: int = -1) -> Tensor:
    """``x.flatten(start, end)``."""
    start, end = normalized(start, x.ndim), normalized(end, x.ndim)
    if start == end:
        return x if x.ndim else reshape(x, (1,))
    middle = prod(x.shape[start : end + 1])
    return reshape(x, (*x.shape[:start], middle, *x.shape[end + 1 :]))


def transpose(x: Tensor, first: int, second: int) -> Tensor:
    """``x.transpose(first, second)``."""
    order = list(range(x.ndim))
    first, second = normalized(first, x.ndim), normalized(second, x.ndim)
    if order:
        order[first], order[second] = order[second], order[first]
    return permute(x, tuple(order))


def t(x: Tensor) -> Tensor:
    """``x.t()`` of a matrix; of a vector itself."""
    return transpose(x, 0, 1) if x.ndim == 2 else permute(x, tuple(range(x.ndim)))


def permute(x: Tensor, order: Sequence[int]) -> Tensor:
    """``x.permute(order)``."""
    dims = [normalized(dim, x.ndim) for dim in order]
    back = [dims.index(dim) for dim in range(len(dims))]
    return _view(
        x,
        ("permute", *dims),
        tuple(x.shape[dim] for dim in dims),
        tuple(x.strides[dim] for dim in dims),
        lambda g: [permute(g, back)],
    )


def expand(x: Tensor, shape: Shape) -> Tensor:
    """``x.expand(shape)``: -1 leaves a dimension. The gradient is summed, by autograd's engine."""
    missing = len(shape) - x.ndim
    shape = tuple(x.shape[dim - missing] if size == -1 else size for dim, size in enumerate(shape))
    strides = expanded_strides(x.shape, x.strides, shape)
    return _view(x, ("expand",), shape, strides, lambda g: [g], x.role.reshaped)


def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """``x.unsqueeze(dim)``."""
    dim = normalized(dim, x.ndim + 1)
    step = x.shape[dim] * x.strides[dim] if dim < x.ndim else 1
    return _view(
        x,
        VIEW,
        (*x.shape[:dim], 1, *x.shape[dim:]),
        (*x.strides[:dim], step, *x.strides[dim:]),
        lambda g: [squeeze(g, dim)],
    )


def squeeze(x: Tensor, dim: int | None = None) -> Tensor:
    """``x.squeeze(dim)``; without ``dim`` all dimensions of one element go."""
    kept = [
        each
        for each in range(x.ndim)
        if x.shape[each] != 1 or (dim is not None and each != normalized(dim, x.ndim))
    ]
    return _view(
        x,
        VIEW,
        tuple(x.shape[each] for each in kept),
        tuple(x.strides[each] for each in kept),
        _reshaping(x.shape),
    )


def narrow(x: Tensor, dim: int, length: int, step: int = 1, start: int | None = None) -> Tensor:
    """``x[..., start:start + length * step:step]``; the gradient is padded with zeros.

    Where it starts is of no matter but to a tracer, which takes two unknown places for different.
    """
    dim = normalized(dim, x.ndim)
    whole = x.shape
    shape = (*whole[:dim], length, *whole[dim + 1 :])
    strides = (*x.strides[:dim], x.strides[dim] * step, *x.strides[dim + 1 :])
    how = ("slice", dim, start, step)
    return _view(x, how, shape, strides, lambda g: [_zeros(g, whole, how)], x.role.reshaped)


def select(x: Tensor, dim: int, index: int | None = None) -> Tensor:
    """``x[..., index]``; which is of no matter but to a tracer."""
    dim, whole = normalized(dim, x.ndim), x.shape
    shape = (*whole[:dim], *whole[dim + 1 :])
    strides = (*x.strides[:dim], *x.strides[dim + 1 :])
    how = ("select", dim, index)
    return _view(x, how, shape, strides, lambda g: [_zeros(g, whole, how)], x.role.reshaped)


@traced
def split(x: Tensor, sizes: int | Sequence[int], dim: int = 0) -> Sequence[Tensor]:
    """``x.split(sizes, dim)``: views whose gradients are concatenated."""
    dim, whole = normalized(dim, x.ndim), x.shape
    if isinstance(sizes, int):
        full, rest = divmod(whole[dim], sizes)
        sizes = [sizes] * full + ([rest] if rest else [])
    shapes = [(*whole[:dim], size, *whole[dim + 1 :]) for size in sizes]
    outs = [x.view(shape, x.strides, x.role.reshaped) for shape in shapes]

    def backward(*gradients: Tensor | None) -> list[Tensor | None]:
        given = next(each for each in gradients if each is not None)
        zeros = [
            empty(given.device, shape, given.dtype, given.role)
            for each, shape in zip(gradients, shapes, strict=True)
            if each is None
        ]
        return [_joined(given, zeros, whole, role)]

    role = x.role.gradient
    return record_all(outs, (x,), backward)


def chunk(x: Tensor, chunks: int, dim: int = 0) -> Sequence[Tensor]:
    """``x.chunk(chunks, dim)``: at most so many parts, all but the last alike."""
    size = x.shape[normalized(dim, x.ndim)]
    return split(x, max(1, -(-size // chunks)), dim)


@traced
def unbind(x: Tensor, dim: int = 0) -> Sequence[Tensor]:
    """``x.unbind(dim)``: a view for each index, whose gradients are stacked."""
    dim, whole = normalized(dim, x.ndim), x.shape
    shape = (*whole[:dim], *whole[dim + 1 :])
    strides = (*x.strides[:dim], *x.strides[dim + 1 :])
    outs = [x.view(shape, strides, x.role.reshaped) for _ in range(whole[dim])]
    role = x.role.gradient

    def backward(*gradients: Tensor | None) -> list[Tensor | None]:
        given = next(each for each in gradients if each is not None)
        zeros = [
            empty(given.device, (), given.dtype, given.role)  # one zero, repeated
            for each in gradients
            if each is None
        ]
        return [_joined(given, zeros, whole, role)]

    return record_all(outs, (x,), backward)


def contiguous(x: Tensor, role: Role | None = None) -> Tensor:
    """``x.contiguous()``: a copy in order, or ``x`` where it lies so."""
    return x if x.is_contiguous else clone(x, role)


@traced
def clone(x: Tensor, role: Role | None = None) -> Tensor:
    """A copy in order."""
    out = empty(x.device, x.shape, x.dtype, role or x.role)
    return record(out, (x,), lambda g: [g])


@traced
def cast(x: Tensor, dtype: Dtype, role: Role | None = None) -> Tensor:
    """``x.to(dtype)``: ``x`` where it has that type; its gradient is cast back."""
    if x.dtype is dtype:
        return x
    before = x.dtype
    strides = like_strides(x.shape, x.strides)
    out = empty(x.device, x.shape, dtype, role or x.role.copy, strides)
    if not (before.is_differentiable and dtype.is_differentiable):
        return out
    gradient = x.role.gradient
    return record(out, (x,), lambda g: [cast(g, before, gradient)])


def _joined(given: Tensor, _zeros: list[Tensor], whole: Shape, role: Role) -> Tensor:
    """The concatenated gradients; zeros for outputs that nobody used live beside it."""
    return empty(given.device, whole, given.dtype, role)


def _view(
    x: Tensor,
    how: tuple[object, ...],
    shape: Shape,
    strides: Strides,
    backward: Callable[[Tensor], list[Tensor | None]],
    role: Role | None = None,
) -> Tensor:
    tracer = tracer_at(x.device)
    if tracer is None:
        out = x.view(shape, strides, role or x.role)
    else:
        out = tracer.view(x, how, shape, strides, role or x.role)
    return record(out, (x,), backward)


def _reshaping(shape: Shape) -> Callable[[Tensor], list[Tensor | None]]:
    return lambda g: [reshape(g, shape)]


@traced
def _zeros(g: Tensor, shape: Shape, _how: tuple[object, ...]) -> Tensor:
    """The gradient of a part, and zeros around it."""
    return empty(g.device, shape, g.dtype, g.role.reshaped)


def _completed(shape: Shape, numel: int) -> Shape:
    if -1 not in shape:
        return shape
    known = -prod(shape)
    return tuple(numel // known if size == -1 and known else size for size in shape)
