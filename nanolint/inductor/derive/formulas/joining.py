"""Joining and repeating."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from nanolint.inductor.derive.formulas.reductions import reduce
from nanolint.inductor.derive.formulas.views import preserved
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import promote
from nanolint.tensors.layout import normalized
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.parts import select, sliced
from nanolint.tensors.ops.views import expand, reshape, sizes_of, unsqueeze, view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.tensors.tensor import Tensor


def cat(t: Capture, tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """``aten.cat``: its gradients are slices; what has no elements is left out before, and one that
    is left is copied (torch/_inductor/decomposition.py)."""
    given, tensors = tensors, [each for each in tensors if each.shape != (0,)] or tensors
    first = tensors[0]
    along = normalized(dim, first.ndim)
    dtype = first.dtype
    for each in tensors:
        dtype = promote(dtype, each.dtype)
    sizes = [each.shape[along] for each in tensors]
    shape = (*first.shape[:along], sum(sizes), *first.shape[along + 1 :])
    role = first.role.made("concatenation")
    cost = 6 * len(tensors) - 1  # lowering.py, ``pointwise_cat``: what OpCounterCSE counts
    if len(tensors) < len(given) and len(tensors) == 1:
        with t.device.no_grad():
            out = preserved(t, first)
    elif len(tensors) > 1 and all(each is first for each in tensors):
        # torch/_inductor/decomposition.py, ``cat``: "single, repeated input"
        before, after = first.shape[:along], first.shape[along:]
        with t.device.no_grad():
            repeated = expand(unsqueeze(first, along), *before, len(tensors), *after)
            out = reshape(repeated, shape)
    else:
        out = t.make(ops.CAT, tensors, shape, dtype, role, along, cost=cost)

    def backward(g: Tensor) -> list[Tensor | None]:
        starts = [0, *accumulate(sizes)]
        return [
            sliced(g, along, size, start=start) for size, start in zip(sizes, starts, strict=False)
        ]

    return record(out, tensors, backward)


def stacked(t: Capture, tensors: Sequence[Tensor], dim: int) -> Tensor:
    """``aten.stack``: joined along the next dimension, if there is one, and seen in the
    other shape (torch/_refs/__init__.py); its gradients are of one index each."""
    first = tensors[0]
    along = normalized(dim, first.ndim + 1)
    with t.device.no_grad():
        if along == first.ndim:
            out = cat(t, [unsqueeze(each, along) for each in tensors], along)
        else:
            shape = (*first.shape[:along], len(tensors), *first.shape[along:])
            out = view(cat(t, tensors, along), shape)

    def backward(g: Tensor) -> list[Tensor | None]:
        return [select(g, along, place) for place in range(len(tensors))]

    return record(out, tensors, backward)


def repeat(t: Capture, x: Tensor, *sizes: int | Sequence[int]) -> Tensor:
    """``aten.repeat``: each element is read when it is needed; its gradient is a sum
    (FunctionsManual.cpp, ``repeat_backward``)."""
    times = sizes_of(sizes)
    before = x.shape
    whole = (1,) * (len(times) - x.ndim) + before
    wide = x if whole == before else view(x, whole)
    shape = tuple(size * each for size, each in zip(whole, times, strict=True))
    role = x.role.made("repeated")
    with t.device.no_grad():
        is_whole = all(1 in pair for pair in zip(whole, times, strict=True))  # ``clone(expand(x))``
        op = ops.REPEAT if is_whole else ops.REPEAT_PARTS
        out = t.make(op, (wide,), shape, x.dtype, role, times)

    def backward(g: Tensor) -> list[Tensor | None]:
        parts, over = list[int](), list[int]()
        for size, each in zip(whole, times, strict=True):
            if each != 1:
                over.append(len(parts))
                parts.append(each)
            parts.append(size)
        if not over:
            return [reshape(g, before)]
        summed = reduce(t, ops.SUM, reshape(g, tuple(parts)), tuple(over), keepdim=False)
        return [reshape(summed, before)]

    return record(out, (x,), backward)


FORMULAS: Formulas = {"cat": cat, "repeat": repeat, "stacked": stacked}
