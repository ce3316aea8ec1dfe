"""Memory that is read through views: index expressions that stay quotients, the first steps along
the dimensions of a view, and views of views as loops of their own (invert_expr_analysis.py).

Places that stay quotients: torch/_inductor/sizevars.py, ``_simplify_with_ranges``, before 2.12.

A result that is not memory yet is seen in another shape by quotients and remainders of one index
(ir.py, ``View.dynamic_reshape_indexer``). If that index is a sum of loops, a quotient is dropped
that is known to be 0: since 2.12 whatever is left in it, before only of one loop. So (8, 256, 4)
seen as (8192,) and as (8, 256, 4) again was read at ``1024*i + 4*j + k + 1024*((4*j + k)//1024)``,
which is not the place that another kernel writes, for all that the scheduler knows.

How far the first step along each dimension of a view leads in memory, if no strides tell all
of them: by these Inductor orders loops and dimensions (torch/_inductor/sizevars.py,
``stride_vars``).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.tensors.layout import contiguous_strides, of_sizes
from nanolint.tensors.ops import registry as ops

if TYPE_CHECKING:
    from nanolint.tensors.layout import Shape, Strides

APART = "apart"  # in a view of what is no memory yet
QUOTIENT = "quotient"  # in the tag of what is read at one


class _Place(NamedTuple):
    """An index: of so many steps of each loop of a size, and maybe a quotient that is 0."""

    terms: tuple[tuple[int, int], ...] = ()
    has_quotient: bool = False


@of_sizes
def leaves_quotients(seen: tuple[Any, ...]) -> bool:
    """Whether strides, a shape, and views of these (see ``access.py``) are read at a quotient."""
    strides, before, *views = seen
    if len(strides) != len(before) or not views:
        return False
    steps = list(zip(views[::2], (before, *views[1::2]), views[1::2], strict=False))
    places = [_Place(((1, size),) if size != 1 else ()) for size in views[-1]]
    for step, shape, after in reversed(steps):
        found = _before_quotient(places, step, shape, after)
        if found is None:
            return False
        places = found
    return any(
        place.has_quotient and stride and size != 1
        for place, stride, size in zip(places, strides, before, strict=True)
    )


def _before_quotient(
    places: list[_Place], step: tuple[Any, ...], before: Shape, after: Shape
) -> list[_Place] | None:
    """The indices into what is seen, of those into a view of it; None where that is more than sums
    of loops."""
    kind = step[0]
    if kind is ops.VIEW:
        return _reshaped(places, before, after)
    if kind is ops.PERMUTE:
        return [places[step.index(dim, 1) - 1] for dim in range(len(before))]
    if kind is ops.EXPAND:
        kept = places[len(after) - len(before) :]
        return [_Place() if size == 1 else at for size, at in zip(before, kept, strict=True)]
    if kind is ops.SELECT:
        return [*places[: step[1]], _Place(), *places[step[1] :]]
    return None


def _reshaped(places: list[_Place], before: Shape, after: Shape) -> list[_Place] | None:
    """``View.dynamic_reshape_indexer``."""
    found: list[_Place] = []
    old = [size for size in before if size != 1]
    new = [(place, size) for place, size in zip(places, after, strict=True) if size != 1]
    while old and new:
        size = old.pop()
        place, steps = new.pop()
        while steps < size and new:
            other, more = new.pop()
            place = _Place(
                (*place.terms, *((by * steps, many) for by, many in other.terms)),
                place.has_quotient or other.has_quotient,
            )
            steps *= more
        digits = [size]
        while size < steps and old:
            digits.append(old.pop())
            size *= digits[-1]
        if size != steps:
            return None
        if len(digits) == 1:
            found.append(place)
            continue
        by = 1
        for digit in digits:
            found.append(_quotient(place, by, digit))
            by *= digit
    if old or new:
        return None
    left = iter(reversed(found))
    return [next(left) if size != 1 else _Place() for size in before]


def _quotient(place: _Place, by: int, modulus: int) -> _Place:
    """What is left of an index that is divided: one loop of fewer steps is known to be 0. Where
    there are but such loops, it is joined with the one before (``join_dimensions``)."""
    inner = [(step, size) for step, size in place.terms if step < by]
    outer = [(step // by, size) for step, size in place.terms if by <= step < by * modulus]
    return _Place(tuple(outer), place.has_quotient or (len(inner) > 1 and bool(outer)))


Place = tuple[int, ...]


def first_steps(tag: tuple[Any, ...]) -> Strides:
    """Returns those of ``tag``: strides, a shape, and views of these (``access.py``); () of
    others."""
    end = len(tag)
    while end > 2 and _is_view(tag[end - 2]):
        end -= 2
    strides, before, *views = tag
    if end != 2 or not views or type(strides) is not tuple or len(strides) != len(before):
        return ()
    steps = list(zip(views[::2], (before, *views[1::2]), views[1::2], strict=False))
    shape: Shape = views[-1]

    def reached(place: Place) -> int:
        for step, seen, after in reversed(steps):
            place = _before(place, step, seen, after)
        return sum(at * stride for at, stride in zip(place, strides, strict=True))

    start = reached((0,) * len(shape))
    return tuple(
        reached((*(0,) * dim, 1, *(0,) * (len(shape) - dim - 1))) - start if size != 1 else 0
        for dim, size in enumerate(shape)
    )


def _is_view(step: object) -> bool:
    return isinstance(step, tuple) and bool(step) and step[0] in SEEN


def _before(place: Place, step: tuple[Any, ...], before: Shape, after: Shape) -> Place:
    """Where the element at a place of a view is in what it is a view of."""
    kind = step[0]
    if kind is ops.VIEW:
        flat = sum(at * by for at, by in zip(place, contiguous_strides(after), strict=True))
        return tuple(
            flat // by % size for size, by in zip(before, contiguous_strides(before), strict=True)
        )
    if kind is ops.PERMUTE:
        return tuple(place[step.index(dim, 1) - 1] for dim in range(len(before)))
    if kind is ops.EXPAND:
        kept = place[len(after) - len(before) :]
        return tuple(0 if size == 1 else at for size, at in zip(before, kept, strict=True))
    dim, start = step[1], step[2]
    if kind is ops.SELECT:
        return *place[:dim], start, *place[dim:]
    return *place[:dim], start + place[dim] * step[3], *place[dim + 1 :]


INVERTED = frozenset({ops.VIEW, ops.PERMUTE})  # views that lead to each element once
SEEN = INVERTED | {ops.EXPAND, ops.SLICE, ops.SELECT}


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
        if step[0] is ops.PERMUTE:
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
