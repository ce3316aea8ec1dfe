"""Elementwise operations that eager PyTorch makes by several kernels, and dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.derive.operations import POINTWISE, RANDOM
from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import BOOL, FLOAT32, INT64
from nanolint.memory.tensors.layout import broadcast, like_strides
from nanolint.memory.tensors.ops.pointwise import mul, result_type
from nanolint.memory.tensors.ops.views import cast
from nanolint.memory.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.memory.compiled.derive.capture import Capture, Formulas
    from nanolint.memory.tensors.ops.pointwise import Operand


def dropout(
    t: Capture, x: Tensor, p: float = 0.5, training: bool = True, _inplace: bool = False
) -> Tensor:
    """A mask from a random seed, times x, times a number (torch/_inductor/decomposition.py)."""
    if not (training and p > 0):
        return x
    seed = t.make("seed", RANDOM, (), (), INT64, x.role.made("dropout seeds"), len(t.graph.all))
    random = t.make("random", RANDOM, (seed,), x.shape, FLOAT32, x.role.made("random numbers"))
    label = x.role.made("dropout mask", x.role.dims)
    mask = t.make("comparison", POINTWISE, (random,), x.shape, BOOL, label, p, cost=2)
    strides = like_strides(x.shape, x.strides)
    role = x.role.made("dropout output", x.role.dims)
    kept = t.make("product", POINTWISE, (mask, x), x.shape, x.dtype, role, strides=strides)
    scale = 1 / (1 - p) if p < 1 else 0.0
    out = t.make(
        "product", POINTWISE, (kept,), x.shape, x.dtype, role, scale, strides=strides, cost=2
    )

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        as_number = cast(mask, g.dtype)
        return [mul(g, mul(as_number, scale))]

    return record(out, (x,), backward, mask)


def masked_fill(t: Capture, x: Tensor, mask: Tensor, _value: Operand = 0) -> Tensor:
    """``aten.where`` of the mask, a number and x."""
    shape = broadcast(x.shape, mask.shape)
    out = t.make("where", POINTWISE, (mask, x), shape, x.dtype, x.role.made("masked"), cost=2)

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        return [masked_fill(t, g, mask)]

    return record(out, (x,), backward, mask)


def where(t: Capture, mask: Tensor, x: Operand, y: Operand) -> Tensor:
    """``aten.where``."""
    dtype = result_type(x, y)
    sides = [cast(each, dtype) if isinstance(each, Tensor) else each for each in (x, y)]
    tensors = [each for each in sides if isinstance(each, Tensor)]
    shape = broadcast(mask.shape, *(each.shape for each in tensors))
    role = (tensors[0] if tensors else mask).role.made("choice")
    numbers = tuple(None if isinstance(each, Tensor) else each for each in sides)
    out = t.make("where", POINTWISE, (mask, *tensors), shape, dtype, role, *numbers, cost=2)

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        return [
            t.make("where", POINTWISE, (mask, g), g.shape, g.dtype, g.role, side, cost=2)
            if isinstance(each, Tensor) and each.node is not None
            else None
            for side, each in enumerate((x, y))
        ]

    needed = tuple(each if isinstance(each, Tensor) else None for each in (x, y))
    return record(out, needed, backward, mask)


def triangle(t: Capture, x: Tensor, _diagonal: int = 0) -> Tensor:
    """``tril`` and ``triu``: zeros by the place of an element."""
    out = t.make("triangle", POINTWISE, (x,), x.shape, x.dtype, x.role.made("triangle"), cost=5)
    return record(out, (x,), lambda g: [triangle(t, g)])


FORMULAS: Formulas = {
    "dropout": dropout,
    "masked_fill": masked_fill,
    "where": where,
    "tril": triangle,
}
