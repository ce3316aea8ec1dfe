"""Memory that is read through views, one after another, as loops of its own
(torch/_inductor/sizevars.py and invert_expr_analysis.py)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from nanolint.tensors.layout import of_sizes

if TYPE_CHECKING:
    from nanolint.tensors.layout import Strides

INVERTED = frozenset({"view", "permute"})  # views that lead to each element once


@of_sizes
def merged(loops: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Returns the loops, with neighbours made one if they lie in order."""
    found: list[tuple[int, int]] = []
    for size, stride in loops:
        if found and found[-1][1] == stride * size:
            found[-1] = found[-1][0] * size, stride
        else:
            found.append((size, stride))
    return tuple(found)


def through_views(tag: tuple[Any, ...]) -> tuple[tuple[int, int], ...] | None:
    """Returns the loops of an access that no strides tell, if only views in other shapes and orders
    are between: finer ones than its dimensions (invert_expr_analysis.py, ``Term``)."""
    dims = _digits(tag) if _is_viewed(tag) else None
    if dims is None:
        return None
    return merged(tuple(each for dim in dims for each in dim))


def strides_through(tag: tuple[Any, ...]) -> Strides | None:
    """Returns the strides that such views have together, if each dimension has one loop
    (sizevars.py, ``simplify_with_ranges``)."""
    dims = _digits(tag) if _is_viewed(tag) else None
    if dims is None:
        return None
    loops = [merged(tuple(dim)) for dim in dims]
    if any(len(dim) > 1 for dim in loops):
        return None
    return tuple(dim[0][1] if dim else 0 for dim in loops)


def _is_viewed(tag: tuple[Any, ...]) -> bool:
    if len(tag) < 4:
        return False
    strides, shape, *views = tag
    is_plain = type(strides) is type(shape) is tuple and len(strides) == len(shape)
    if not is_plain or any(isinstance(each, (str, tuple)) for each in (*strides, *shape)):
        return False
    return len(views) % 2 == 0 and all(
        type(each) is tuple and each[0] in INVERTED for each in views[::2]
    )


@of_sizes
def _digits(tag: tuple[Any, ...]) -> tuple[tuple[tuple[int, int], ...], ...] | None:
    """The loops that each dimension is of."""
    strides, shape, *views = tag
    dims: list[list[tuple[int, int]]] = [[each] for each in zip(shape, strides, strict=True)]
    for step, after in zip(views[::2], views[1::2], strict=True):
        if step[0] == "permute":
            if len(dims) != len(after):
                return None  # an index goes through others than these
            dims = [dims[dim] for dim in step[1:]]
            if [prod(size for size, _ in dim) for dim in dims] != [*after]:
                return None  # they are a part of what is gone through
            continue
        left = [each for dim in dims for each in dim if each[0] != 1]
        dims = []
        for size in reversed(after):
            found = taken_off(left, size)
            if found is None:
                return None
            dims.insert(0, found)
    return tuple(tuple(each for each in dim if each[0] != 1) for dim in dims)


def taken_off(left: list[tuple[int, int]], steps: int) -> list[tuple[int, int]] | None:
    """Takes the innermost loops that go so many steps together off ``left`` and returns them; None
    if these are not a whole part of a loop."""
    found: list[tuple[int, int]] = []
    while steps != 1:
        if not left:
            return None
        size, stride = left.pop()
        if steps % size and size % steps:
            return None
        if size > steps:
            left.append((size // steps, stride * steps))
            size = steps
        found.insert(0, (size, stride))
        steps //= size
    return found
