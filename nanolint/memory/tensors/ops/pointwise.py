"""Elementwise operations (aten/src/ATen/native/BinaryOps.cpp, UnaryOps.cpp, TensorIterator.cpp).

Backward formulas are those of tools/autograd/derivatives.yaml, the gradient of the argument that
comes first in the alphabet first. C++ keeps what a formula makes to its end; so do the names here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import BOOL, DEFAULTS, FLOAT32, FLOATING, kind_of, promote
from nanolint.memory.tensors.layout import broadcast, result_strides
from nanolint.memory.tensors.tensor import Tensor, empty
from nanolint.memory.tensors.tracing import traced, tracer_at

if TYPE_CHECKING:
    from nanolint.memory.tensors.dtypes import Dtype, Number
    from nanolint.memory.tensors.role import Role

Operand: TypeAlias = "Tensor | Number"


def result_type(*operands: Operand) -> Dtype:
    """The type of an elementwise result: numbers and tensors without dimensions give way.

    aten/src/ATen/native/TypeProperties.cpp, ``result_type``.
    """
    found: list[Dtype | None] = [None, None, None]
    for each in operands:
        if isinstance(each, Tensor):
            level, dtype = (0, each.dtype) if each.shape else (1, each.dtype)
        else:
            level, dtype = 2, DEFAULTS[kind_of(each)]
        before = found[level]
        found[level] = dtype if before is None else promote(before, dtype)
    best: Dtype | None = None
    for dtype_at_level in found:
        if dtype_at_level is not None and (best is None or dtype_at_level.kind > best.kind):
            best = dtype_at_level
    assert best is not None
    return best


def elementwise(dtype: Dtype, label: str, *operands: Operand, role: Role | None = None) -> Tensor:
    """The result of an operation on elements, in the layout of its operands."""
    tensors = [each for each in operands if isinstance(each, Tensor)]
    first = tensors[0]
    if len(tensors) == 1:
        shape = first.shape
        strides = result_strides(shape, (shape, first.strides))
    else:
        shape = broadcast(*(each.shape for each in tensors))
        strides = result_strides(shape, *((each.shape, each.strides) for each in tensors))
    if role is None:
        widest = next((each for each in tensors if each.shape == shape), first)
        role = widest.role.made(label, widest.role.dims if widest.shape == shape else "")
    tracer = tracer_at(first.device)
    if tracer is not None:
        return tracer.elementwise(label, operands, shape, strides, dtype, role)
    return empty(first.device, shape, dtype, role, strides)


def add(x: Operand, y: Operand, role: Role | None = None) -> Tensor:
    """``x + y``: both gradients are the gradient itself."""
    out = elementwise(result_type(x, y), "sum", x, y, role=role)
    return record(out, (_tensor(x), _tensor(y)), lambda g: [g, g])


def sub(x: Operand, y: Operand, role: Role | None = None) -> Tensor:
    """``x - y``."""
    out = elementwise(result_type(x, y), "difference", x, y, role=role)
    needs_x, needs_y = _needs(x), _needs(y)

    def backward(g: Tensor) -> list[Tensor | None]:
        return [g if needs_x else None, neg(g) if needs_y else None]

    return record(out, (_tensor(x), _tensor(y)), backward)


def mul(x: Operand, y: Operand, role: Role | None = None) -> Tensor:
    """``x * y``: each factor is saved where the other one learns."""
    out = elementwise(result_type(x, y), "product", x, y, role=role)
    needs_x, needs_y = _needs(x), _needs(y)
    scalar_x = None if isinstance(x, Tensor) else x
    scalar_y = None if isinstance(y, Tensor) else y

    def backward(g: Tensor, x: Tensor | None, y: Tensor | None) -> list[Tensor | None]:
        of_y = mul(g, scalar_x if x is None else x) if needs_y else None  # type: ignore[arg-type]
        of_x = mul(g, scalar_y if y is None else y) if needs_x else None  # type: ignore[arg-type]
        return [of_x, of_y]

    saved = (_tensor(x) if needs_y else None, _tensor(y) if needs_x else None)
    return record(out, (_tensor(x), _tensor(y)), backward, *saved)


def div(x: Operand, y: Operand, role: Role | None = None) -> Tensor:
    """``x / y``; integers become float32."""
    dtype = result_type(x, y)
    if dtype.kind < FLOATING:
        dtype = FLOAT32
    out = elementwise(dtype, "quotient", x, y, role=role)
    needs_x, needs_y = _needs(x), _needs(y)
    scalar_x = None if isinstance(x, Tensor) else x
    scalar_y = None if isinstance(y, Tensor) else y

    def backward(g: Tensor, x: Tensor | None, y: Tensor | None) -> list[Tensor | None]:
        above: Operand = x if x is not None else scalar_x  # type: ignore[assignment]
        below: Operand = y if y is not None else scalar_y  # type: ignore[assignment]
        of_y = None
        if needs_y:
            once = div(above, below)
            twice = div(once, below)
            negative = neg(g)
            of_y = mul(negative, twice)
            del once, twice, negative
        return [div(g, below) if needs_x else None, of_y]

    saved = (_tensor(x) if needs_y else None, _tensor(y) if needs_x or needs_y else None)
    return record(out, (_tensor(x), _tensor(y)), backward, *saved)


def neg(x: Tensor) -> Tensor:
    """``-x``."""
    return record(elementwise(x.dtype, "negative", x), (x,), lambda g: [neg(g)])


def compare(x: Operand, y: Operand) -> Tensor:
    """``x == y``, ``x < y`` and their like: no gradient."""
    return elementwise(BOOL, "comparison", x, y)


@traced
def masked_fill(x: Tensor, mask: Tensor) -> Tensor:
    """``x.masked_fill(mask, number)``: a copy in order, filled in place."""
    out = empty(x.device, broadcast(x.shape, mask.shape), x.dtype, x.role.made("masked"))

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        return [masked_fill(g, mask)]

    return record(out, (x,), backward, mask)


@traced
def where(mask: Tensor, x: Operand, y: Operand) -> Tensor:
    """``torch.where``."""
    dtype = result_type(x, y)
    casts = [
        elementwise(dtype, "choice", each)
        for each in (x, y)
        if isinstance(each, Tensor) and each.dtype is not dtype
    ]
    out = elementwise(dtype, "choice", mask, x, y)
    del casts
    needs_x, needs_y = _needs(x), _needs(y)

    def backward(g: Tensor, mask: Tensor) -> list[Tensor | None]:
        of_y = _masked(g, mask) if needs_y else None
        return [_masked(g, mask) if needs_x else None, of_y]

    return record(out, (_tensor(x), _tensor(y)), backward, mask)


def _masked(g: Tensor, mask: Tensor) -> Tensor:
    """The gradient where the mask holds; the zero elsewhere is a tensor of its own."""
    zero = empty(g.device, (), g.dtype, g.role)
    out = elementwise(g.dtype, "choice", mask, g, role=g.role)
    del zero
    return out


def _needs(x: Operand) -> bool:
    return isinstance(x, Tensor) and x.node is not None


def _tensor(x: Operand) -> Tensor | None:
    return x if isinstance(x, Tensor) else None
