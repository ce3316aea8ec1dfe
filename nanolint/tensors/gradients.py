"""Gradients on their way: matched to what they are of, and summed where they meet.

As torch/csrc/autograd: engine.cpp, input_buffer.cpp. Gradients of one tensor are summed in place
where nobody else looks at the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.layout import is_contiguous, is_dense, like_strides, result_strides
from nanolint.tensors.ops.sums import reduction
from nanolint.tensors.tensor import Node, empty
from nanolint.tensors.tracing import tracer_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor


def matched(node: Node, gradients: Iterable[Tensor | None]) -> list[Tensor | None]:
    """``validate_outputs``: each summed to the shape of its input, and cast to its type."""
    found = list(gradients)
    for each in found:
        if each is not None:
            take_off(each)
    del gradients
    each = None
    for place, edge in enumerate(node.edges):
        if edge is not None:
            _match(found, place, *edge[0].outputs[edge[1]])
        elif found[place] is not None:  # of what requires none
            _replace(found, place, None)
    return found


def receive(node: Node, index: int, new: Tensor) -> None:
    """Take a gradient of output ``index``, or add it to what is there."""
    old = node.gradients[index]
    node.gradients[index] = new if old is None else _sum(old, new)


def _match(found: list[Tensor | None], place: int, shape: Shape, dtype: Dtype, role: Role) -> None:
    """Sum and cast the gradient at ``place``, which nothing but the list holds."""
    new = found[place]
    if new is None:
        return
    tracer = tracer_at(new.device)
    if tracer is not None:
        if (traced := tracer.matching(new, shape, dtype, role)) is not new:
            _replace(found, place, traced)
        return
    if new.shape != shape:
        summed = empty(new.device, shape, new.dtype, role.gradient)
        reduction(new, _summed(new.shape, shape), "partial sums")
        summed.is_view = new.ndim > len(shape) > 0
        _replace(found, place, summed)
        new = summed
    if new.dtype is not dtype:
        strides = like_strides(shape, new.strides)
        _replace(found, place, empty(new.device, shape, dtype, role.gradient, strides))


def _summed(shape: Shape, to: Shape) -> list[int]:
    """The dimensions that ``sum_to`` sums."""
    missing = len(shape) - len(to)
    ones = (dim for dim, size in enumerate(to, missing) if size == 1 != shape[dim])
    return [*range(missing), *ones]


def changed(old: Tensor, new: Tensor | None) -> Tensor:
    """What a hook made of a gradient, on its way in its place; None leaves it."""
    return old if new is None or new is old else _replaced(old, new)


def lies_as(new: Tensor, strides: tuple[int, ...]) -> bool:
    """``obeys_layout_contract``: a gradient lies as its parameter, or in order."""
    if not is_dense(new.shape, strides):
        return is_contiguous(new.shape, new.strides)
    return all(
        size == 1 or one == other
        for size, one, other in zip(new.shape, new.strides, strides, strict=True)
    )


def _replace(found: list[Tensor | None], place: int, new: Tensor | None) -> None:
    old = found[place]
    if old is not None:
        land(old)
    if new is not None:
        take_off(new)
    found[place] = new


def _replaced(old: Tensor, new: Tensor) -> Tensor:
    land(old)
    take_off(new)
    return new


def _sum(old: Tensor, new: Tensor) -> Tensor:
    """Of two gradients of one tensor, in place where nobody else looks at the first."""
    tracer = tracer_at(old.device)
    if tracer is not None:
        land(new)
        return _replaced(old, tracer.sum(old, new))
    storage = old.storage
    in_place = storage is None or (
        old.in_flight == storage.in_flight == 1
        and not old.is_view
        and is_dense(old.shape, old.strides)
    )
    land(new)
    if in_place:
        return old
    strides = result_strides(old.shape, (old.shape, old.strides), (new.shape, new.strides))
    total = empty(old.device, old.shape, old.dtype, old.role, strides)
    return _replaced(old, total)


def take_off(gradient: Tensor) -> None:
    """It is on its way to an input."""
    gradient.in_flight += 1
    if gradient.storage is not None:
        gradient.storage.in_flight += 1


def land(gradient: Tensor) -> None:
    """It is no longer on its way."""
    gradient.in_flight -= 1
    if gradient.storage is not None:
        gradient.storage.in_flight -= 1
