"""Views: other shapes on the same memory, and the copies if no view has the shape.

A view holds its base, so that a gradient that is a view is never added to in place
(torch/csrc/autograd/VariableTypeUtils.h, ``as_view``). Backward formulas are those of
tools/autograd/derivatives.yaml.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.tensors import refusing
from nanolint.tensors.autograd import record
from nanolint.tensors.layout import (
    contiguous_strides,
    expanded_strides,
    like_strides,
    normalized,
    view_strides,
)
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced, tracer_at
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor

VIEW = (ops.VIEW,)  # the same elements in the same order


def sizes_of(sizes: Sequence[int | Sequence[int]]) -> Shape:
    """The shape of arguments that may be written as one tuple: ``view(2, 3)``, ``view((2, 3))``.

    Raises TypeError if one is a fraction.
    """
    if len(sizes) == 1 and not isinstance(sizes[0], (int, float)):
        sizes = tuple(sizes[0])
    if any(isinstance(each, float) for each in sizes):
        raise TypeError(f"sizes have to be integers: {sizes}")
    return tuple(sizes)  # type: ignore[arg-type]


def view(x: Tensor, *size: int | Sequence[int]) -> Tensor:
    """``x.view(size)``; one size may be -1.

    Raises Refused if only a copy has that shape.
    """
    shape = _completed(sizes_of(size), x.numel)
    strides = view_strides(x.shape, x.strides, shape)
    if strides is None:
        raise Refused(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return as_view(x, VIEW, shape, strides, _reshaping(x.shape))


def reshape(x: Tensor, *size: int | Sequence[int]) -> Tensor:
    """``x.reshape(size)``: a view if there is one, else a view of a copy in order."""
    shape = _completed(sizes_of(size), x.numel)
    strides = view_strides(x.shape, x.strides, shape)
    if strides is not None:
        return as_view(x, VIEW, shape, strides, _reshaping(x.shape))
    return unsafe_view(clone(x), shape)


def unsafe_view(x: Tensor, shape: Shape) -> Tensor:
    """A view of a tensor that nobody will see again: autograd takes it for the tensor itself."""
    out = as_view(x, VIEW, shape, contiguous_strides(shape), _reshaping(x.shape))
    out.is_view, out.base = False, None
    return out


def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """``x.flatten(start_dim, end_dim)``."""
    start, end = normalized(start_dim, x.ndim), normalized(end_dim, x.ndim)
    if start == end:
        return x if x.ndim else reshape(x, (1,))
    middle = prod(x.shape[start : end + 1])
    return reshape(x, (*x.shape[:start], middle, *x.shape[end + 1 :]))


def unflatten(x: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """``x.unflatten(dim, sizes)``: one dimension as several; one size may be -1."""
    along = normalized(dim, x.ndim)
    inner = _completed(tuple(sizes), x.shape[along])
    return view(x, (*x.shape[:along], *inner, *x.shape[along + 1 :]))


def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """``x.transpose(dim0, dim1)``."""
    order = list(range(x.ndim))
    first, second = normalized(dim0, x.ndim), normalized(dim1, x.ndim)
    if order:
        order[first], order[second] = order[second], order[first]
    return permute(x, tuple(order))


def t(x: Tensor) -> Tensor:
    """``x.t()`` of a matrix; of a vector itself."""
    return transpose(x, 0, 1) if x.ndim == 2 else permute(x, tuple(range(x.ndim)))


def permute(x: Tensor, *order: int | Sequence[int]) -> Tensor:
    """``x.permute(order)``."""
    ndim, named = x.ndim, sizes_of(order)
    if len(named) != ndim:
        raise Refused(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal "
            f"to len(dims) = {len(named)}"
        )
    dims = [normalized(dim, ndim) for dim in named]
    back = [dims.index(dim) for dim in range(len(dims))]
    return as_view(
        x,
        (ops.PERMUTE, *dims),
        tuple(x.shape[dim] for dim in dims),
        tuple(x.strides[dim] for dim in dims),
        lambda g: [permute(g, back)],
    )


def expand(x: Tensor, *size: int | Sequence[int]) -> Tensor:
    """``x.expand(size)``: -1 leaves a dimension. The gradient is summed, by autograd's engine."""
    wanted = sizes_of(size)
    missing = len(wanted) - x.ndim
    shape = tuple(x.shape[dim - missing] if size == -1 else size for dim, size in enumerate(wanted))
    refusing.expanded(x.shape, shape)
    strides = expanded_strides(x.shape, x.strides, shape)
    return as_view(x, (ops.EXPAND,), shape, strides, lambda g: [g], x.role.reshaped)


def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """``x.unsqueeze(dim)``."""
    dim = normalized(dim, x.ndim + 1)
    step = x.shape[dim] * x.strides[dim] if dim < x.ndim else 1
    return as_view(
        x,
        VIEW,
        (*x.shape[:dim], 1, *x.shape[dim:]),
        (*x.strides[:dim], step, *x.strides[dim:]),
        lambda g: [squeeze(g, dim)],
    )


def squeeze(x: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """``x.squeeze(dim)``; without ``dim`` all dimensions of one element go."""
    named = (dim,) if isinstance(dim, int) else range(x.ndim) if dim is None else dim
    goes = {normalized(each, x.ndim) for each in named}
    kept = [each for each in range(x.ndim) if x.shape[each] != 1 or each not in goes]
    return as_view(
        x,
        VIEW,
        tuple(x.shape[each] for each in kept),
        tuple(x.strides[each] for each in kept),
        _reshaping(x.shape),
    )


def movedim(x: Tensor, source: int, destination: int) -> Tensor:
    """``x.movedim``."""
    order = list(range(x.ndim))
    order.insert(normalized(destination, x.ndim), order.pop(normalized(source, x.ndim)))
    return permute(x, order)


def view_as(x: Tensor, other: Tensor) -> Tensor:
    """``x.view_as(other)``."""
    return view(x, other.shape)


def reshape_as(x: Tensor, other: Tensor) -> Tensor:
    """``x.reshape_as(other)``."""
    return reshape(x, other.shape)


def expand_as(x: Tensor, other: Tensor) -> Tensor:
    """``x.expand_as(other)``."""
    return expand(x, other.shape)


def reversed_dimensions(x: Tensor) -> Tensor:
    """``x.T``."""
    return permute(x, range(x.ndim - 1, -1, -1))


def last_swapped(x: Tensor) -> Tensor:
    """``x.mT``."""
    return transpose(x, -2, -1)


@traced
def detach(x: Tensor) -> Tensor:
    """``x.detach()`` and ``x.data``."""
    return x.detach()


def alias(x: Tensor) -> Tensor:
    """``x[:]`` and ``x.view_as(x)``: the same elements as another tensor."""
    return as_view(x, VIEW, x.shape, x.strides, lambda g: [g])


def contiguous(x: Tensor, role: Role | None = None) -> Tensor:
    """``x.contiguous()``: a copy in order, or ``x`` if it lies so."""
    return x if x.is_contiguous else clone(x, role)


@traced
def clone(x: Tensor, role: Role | None = None) -> Tensor:
    """A copy in order."""
    out = empty(x.device, x.shape, x.dtype, role or x.role)
    return record(out, (x,), lambda g: [g])


@traced
def preserved(x: Tensor) -> Tensor:
    """``x.clone()``: a copy that lies as ``x`` does if ``x`` has no gaps."""
    out = empty(x.device, x.shape, x.dtype, x.role, like_strides(x.shape, x.strides))
    return record(out, (x,), lambda g: [g])


@traced
def cast(x: Tensor, dtype: Dtype, role: Role | None = None) -> Tensor:
    """``x.to(dtype)``: ``x`` if it has that type; its gradient is cast back."""
    if x.dtype is dtype:
        return x
    before = x.dtype
    strides = like_strides(x.shape, x.strides)
    out = empty(x.device, x.shape, dtype, role or x.role.copy, strides)
    if not (before.is_differentiable and dtype.is_differentiable):
        return out
    gradient = x.role.gradient
    return record(out, (x,), lambda g: [cast(g, before, gradient)])


def as_view(
    x: Tensor,
    how: tuple[object, ...],
    shape: Shape,
    strides: Strides,
    backward: Callable[[Tensor], list[Tensor | None]],
    role: Role | None = None,
) -> Tensor:
    """A view, which a tracer is told of by ``how``: see ``Tracer.view``."""
    tracer = tracer_at(x.device)
    if tracer is None:
        out = x.view(shape, strides, role or x.role)
    else:
        out = tracer.view(x, how, shape, strides, role or x.role)
    return record(out, (x,), backward)


def _reshaping(shape: Shape) -> Callable[[Tensor], list[Tensor | None]]:
    return lambda g: [reshape(g, shape)]


def _completed(shape: Shape, numel: int) -> Shape:
    if -1 not in shape:
        if prod(shape) != numel:
            raise Refused(f"shape '{refusing.sizes(shape)}' is invalid for input of size {numel}")
        return shape
    if shape.count(-1) > 1:
        raise Refused("only one dimension can be inferred")
    known = -prod(shape)
    if known and numel % known:
        raise Refused(f"shape '{refusing.sizes(shape)}' is invalid for input of size {numel}")
    return tuple(numel // known if size == -1 and known else size for size in shape)
