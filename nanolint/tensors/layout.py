"""Shapes and strides as ATen computes them: which views exist, and how a result lies in memory.

Strides are counted in elements. A shape is a tuple of sizes, the outermost dimension first.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar, cast

from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

Given = ParamSpec("Given")
Found = TypeVar("Found")

# Two readings must not share what functions of sizes cache if one has symbolic integers: equal to
# plain ones, they would be taken for these.
_FORGET: list[Callable[[], None]] = []


def of_sizes(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """The function, which remembers."""
    remembering = lru_cache(maxsize=65536)(function)
    _FORGET.append(remembering.cache_clear)
    return cast("Callable[Given, Found]", remembering)


def forget_sizes() -> None:
    """All of them begin anew."""
    for forget in _FORGET:
        forget()


Shape: TypeAlias = tuple[int, ...]
Strides: TypeAlias = tuple[int, ...]


def elements(shape: Shape) -> int:
    """Returns the number of elements of a shape. Raises TypeError if a size is a fraction."""
    found = prod(shape)
    if isinstance(found, float):
        raise TypeError(f"sizes have to be integers: {shape}")
    return found


@of_sizes
def contiguous_strides(shape: Shape) -> Strides:
    """The strides of a tensor whose elements lie in order.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(1, size)
    return tuple(reversed(strides))


@of_sizes
def is_contiguous(shape: Shape, strides: Strides) -> bool:
    """Whether the elements lie in order; the stride of a dimension of one element is free."""
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1:
            if stride != step:
                return prod(shape) == 0
            step *= size
    return True


@of_sizes
def is_dense(shape: Shape, strides: Strides) -> bool:
    """Whether the elements fill their memory without gaps or repeats, in whatever order."""
    if is_contiguous(shape, strides):
        return True
    step = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


@of_sizes
def view_strides(shape: Shape, strides: Strides, new: Shape) -> Strides | None:
    """Returns the strides of ``new`` on the same memory; None if only a copy has that shape.

    aten/src/ATen/TensorUtils.cpp, ``computeStride``.
    """
    if prod(shape) == 0:
        return strides if shape == new else contiguous_strides(new)
    if not shape:
        return (1,) * len(new)
    found = [0] * len(new)
    at, chunk = len(new) - 1, strides[-1]
    elements = viewed = 1
    for dim in range(len(shape) - 1, -1, -1):
        elements *= shape[dim]
        ends = dim == 0 or (shape[dim - 1] != 1 and strides[dim - 1] != elements * chunk)
        if not ends:
            continue
        while at >= 0 and (viewed < elements or new[at] == 1):
            found[at] = viewed * chunk
            viewed *= new[at]
            at -= 1
        if viewed != elements:
            return None
        if dim:
            chunk = strides[dim - 1]
            elements = viewed = 1
    return None if at >= 0 else tuple(found)


@of_sizes
def broadcast(*shapes: Shape) -> Shape:
    """The shape that all of ``shapes`` expand to.

    Raises Refused if two sizes differ and neither is one.
    """
    longest = max(map(len, shapes), default=0)
    sizes = [1] * longest
    for shape in shapes:
        behind = longest - len(shape)
        for dim in range(longest - 1, behind - 1, -1):
            size = shape[dim - behind]
            if size != 1:
                if sizes[dim] not in (1, size):
                    raise Refused(
                        f"The size of tensor a ({sizes[dim]}) must match the size of tensor b "
                        f"({size}) at non-singleton dimension {dim}"
                    )
                sizes[dim] = size
    return tuple(sizes)


def expanded_strides(shape: Shape, strides: Strides, new: Shape) -> Strides:
    """Returns the strides of a tensor that is repeated to ``new``: 0 in each repeated dimension."""
    missing = len(new) - len(shape)
    return (0,) * missing + tuple(
        0 if size == 1 and wanted != 1 else stride
        for size, stride, wanted in zip(shape, strides, new[missing:], strict=True)
    )


@of_sizes
def like_strides(shape: Shape, strides: Strides) -> Strides:
    """How ``empty_like`` and a cast lay out a new tensor: as the old one, with its gaps closed."""
    if is_dense(shape, strides):
        return strides
    return result_strides(shape, (shape, strides))


@of_sizes
def result_strides(shape: Shape, *operands: tuple[Shape, Strides]) -> Strides:
    """How an elementwise operation lays out its result of ``shape``.

    aten/src/ATen/TensorIterator.cpp: if all operands lie alike the result does, else the
    dimensions are sorted by the operands' strides (``reorder_dimensions``).
    """
    layouts = set(operands)
    if all(each == shape and is_contiguous(each, strides) for each, strides in layouts):
        return contiguous_strides(shape)
    if len(layouts) == 1:
        ((only, strides),) = layouts
        if only == shape and is_dense(shape, strides):
            return strides
    steps = [expanded_strides(each, strides, shape) for each, strides in operands]
    order = _sorted_dimensions(shape, steps)
    found, step = [0] * len(shape), 1
    for dim in order:
        found[dim] = step
        step *= max(1, shape[dim])
    return tuple(found)


def _sorted_dimensions(shape: Shape, steps: list[Strides]) -> list[int]:
    """The dimensions, the one that moves fastest first."""
    order = list(range(len(shape) - 1, -1, -1))
    for start in range(1, len(order)):
        place = start
        for other in range(start - 1, -1, -1):
            sign = _compared(order[other], order[place], shape, steps)
            if sign > 0:
                order[other], order[place] = order[place], order[other]
                place = other
            elif sign < 0:
                break
    return order


def _compared(first: int, second: int, shape: Shape, steps: list[Strides]) -> int:
    """Positive where ``second`` moves faster than ``first``, by the first operand that knows."""
    for strides in steps:
        one, other = strides[first], strides[second]
        if one == 0 or other == 0:
            continue
        if one != other:
            return 1 if one > other else -1
        if shape[first] > shape[second]:
            return 1
    return 0


def normalized(dim: int, dimensions: int) -> int:
    """A dimension counted from the front; negative ones count from the back.

    Raises Refused if there is no such dimension.
    """
    if not -max(1, dimensions) <= dim < max(1, dimensions):
        most = max(1, dimensions)
        raise Refused(
            f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], "
            f"but got {dim})",
            IndexError,
        )
    return dim % max(1, dimensions)
