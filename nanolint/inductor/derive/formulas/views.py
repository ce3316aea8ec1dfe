"""Views with several results, copies and casts."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from nanolint.inductor.derive.formulas.indices import unfolded
from nanolint.inductor.derive.operations import Operation
from nanolint.inductor.derive.writing import Traced
from nanolint.tensors.autograd import record, record_all
from nanolint.tensors.layout import like_strides, normalized
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.creation import number_in
from nanolint.tensors.ops.joining import cat, stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor


def split(t: Capture, x: Tensor, sizes: int | Sequence[int], dim: int = 0) -> Sequence[Tensor]:
    """``aten.split`` and ``split_with_sizes``: slices, whose gradients are concatenated."""
    dim, whole = normalized(dim, x.ndim), x.shape
    is_even = isinstance(sizes, int)
    if isinstance(sizes, int):
        full, rest = divmod(whole[dim], sizes)
        sizes = [sizes] * full + ([rest] if rest else [])
    shapes = [(*whole[:dim], size, *whole[dim + 1 :]) for size in sizes]
    starts = [0, *accumulate(sizes)]
    of = x if is_even else _apart(t, x, ops.SPLIT, dim)
    outs = [
        t.view(of, (ops.SLICE, dim, start, 1), shape, x.strides, x.role.reshaped)
        for shape, start in zip(shapes, starts, strict=False)
    ]
    if is_even:
        for each in outs:  # which a node of its own takes: the backward pass is farther off
            t.of(each).nodes = 2
        t.of(outs[0]).all_nodes = 2  # the node that they are taken of

    def backward(*gradients: Tensor | None) -> list[Tensor | None]:
        given = next(each for each in gradients if each is not None)
        parts = [
            full_of(t, shape, given.dtype, given.role) if each is None else each
            for each, shape in zip(gradients, shapes, strict=True)
        ]
        return [cat(parts, dim)]

    return record_all(outs, (x,), backward)


def _apart(t: Capture, x: Tensor, op: Op, dim: int) -> Tensor:
    """What parts are taken of, which the partitioner does not have on its list."""
    return t.view(x, (op, dim), x.shape, x.strides, x.role)


def unbind(t: Capture, x: Tensor, dim: int = 0) -> Sequence[Tensor]:
    """``aten.unbind``: one index of a dimension each, whose gradients are stacked."""
    dim, whole = normalized(dim, x.ndim), x.shape
    shape = (*whole[:dim], *whole[dim + 1 :])
    strides = (*x.strides[:dim], *x.strides[dim + 1 :])
    of = _apart(t, x, ops.UNBIND, dim)
    outs = [
        t.view(of, (ops.SELECT, dim, index), shape, strides, x.role.reshaped)
        for index in range(whole[dim])
    ]

    def backward(*gradients: Tensor | None) -> list[Tensor | None]:
        given = next(each for each in gradients if each is not None)
        parts = [
            full_of(t, shape, given.dtype, given.role) if each is None else each
            for each in gradients
        ]
        return [stack(parts, dim)]

    return record_all(outs, (x,), backward)


def clone(t: Capture, x: Tensor, role: Role | None = None) -> Tensor:
    """``aten.clone`` to elements in order."""
    out = t.make(ops.CLONE, (x,), x.shape, x.dtype, role or x.role)
    return record(out, (x,), lambda g: [g])


def preserved(t: Capture, x: Tensor) -> Tensor:
    """``aten.clone`` to elements that lie as they do."""
    strides = like_strides(x.shape, x.strides)
    out = t.make(ops.CLONE, (x,), x.shape, x.dtype, x.role, strides=strides)
    return record(out, (x,), lambda g: [g])


def detach(t: Capture, x: Tensor) -> Tensor:
    """``aten.detach``: the same tensor, without what made it differentiable."""
    return x.detach() if isinstance(x, Traced) else Traced(t.device, t.of(x), x.role)


def cast(t: Capture, x: Tensor, dtype: Dtype, role: Role | None = None) -> Tensor:
    """``prims.convert_element_type``."""
    if x.dtype is dtype:
        return x
    before, gradient = x.dtype, x.role.gradient
    strides = like_strides(x.shape, x.strides)
    out = t.make(ops.CONVERT, (x,), x.shape, dtype, role or x.role.copy, strides=strides)
    if not (before.is_differentiable and dtype.is_differentiable):
        return out

    def backward(g: Tensor) -> list[Tensor | None]:
        return [cast(t, g, before, gradient)]

    return record(out, (x,), backward)


def zeros_around(t: Capture, g: Tensor, shape: Shape, how: tuple[Any, ...]) -> Tensor:
    """``aten.slice_scatter`` and ``select_scatter`` into zeros, which may be those of another."""
    role = g.role.reshaped
    if how[0] is ops.UNFOLD:
        return unfolded(t, g, shape, *how[1:])
    zeros = full_of(t, shape, g.dtype, role)
    return t.make(ops.SCATTER_PART, (g, zeros), shape, g.dtype, role, *how)


def full_of(t: Capture, shape: Shape, dtype: Dtype, role: Role) -> Tensor:
    """``aten.full`` of 0: a number wherever it is read."""
    return t.make(ops.FULL, (), shape, dtype, role, repr(number_in(0, dtype)))


def _is_of_host(t: Capture, made: Operation) -> bool:
    """Whether what lies on the host follows from tensors that lay there, or were copied there."""
    given = {each for x, each in t.inputs if x.device is not t.device and x.shape}
    unseen, seen = [made], set[Operation]()
    while unseen:
        each = unseen.pop()
        if each in given or each.op is ops.TO_HOST:
            return True
        if each not in seen:
            seen.add(each)
            unseen += each.of
    return False


def moved(t: Capture, x: Tensor) -> Tensor:
    """``prims.device_put``: a tensor of the host's, copied to the card (ir.py, ``DeviceCopy``).
    What the graph itself makes, it makes there (post_grad.py, ``move_constructors_to_gpu``), and
    one number everywhere is that (joint_graph.py, ``constant_fold_uniform_value``). What it works
    out of the host's tensors, it works out on the host."""
    if x.device is t.device:
        return t.create(ops.TO_HOST, x.shape, x.dtype, x.role)
    if t.makes(x) and not _is_of_host(t, t.of(x)):
        source = t.of(x)
        is_full = source.op is ops.FULL and not source.of
        made = t.make(ops.FULL if is_full else ops.MADE_ON_CARD, () if is_full else (x,), x.shape,
                      x.dtype, x.role, *(source.settings if is_full else ()), cost=0)  # fmt: skip
        made.device = t.device
        return made
    place = next((place for place, each in enumerate(t.hosts) if each is x), len(t.hosts))
    if place == len(t.hosts):
        t.hosts.append(x)
    strides = like_strides(x.shape, x.strides)
    return t.make(ops.TO_CARD, (), x.shape, x.dtype, x.role, place, strides=strides)


FORMULAS: Formulas = {
    "moved": moved,
    "split": split,
    "unbind": unbind,
    "clone": clone,
    "detach": detach,
    "preserved": preserved,
    "cast": cast,
    "_zeros": zeros_around,
}
