"""How far the first step along each dimension of a view leads in memory, where no strides tell all
of them: by these Inductor orders loops and dimensions (torch/_inductor/sizevars.py,
``stride_vars``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tensors.layout import contiguous_strides
from nanolint.tensors.sized import of_sizes

if TYPE_CHECKING:
    from nanolint.tensors.layout import Shape, Strides

Place = tuple[int, ...]


@of_sizes
def first_steps(tag: tuple[Any, ...]) -> Strides:
    """Of strides, a shape, and views of these (see ``access.py``); () where there is more to it."""
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
    kinds = {"view", "permute", "expand", "slice", "select"}
    return isinstance(step, tuple) and bool(step) and step[0] in kinds


def _before(place: Place, step: tuple[Any, ...], before: Shape, after: Shape) -> Place:
    """Where the element at a place of a view is in what it is a view of."""
    kind = step[0]
    if kind == "view":
        flat = sum(at * by for at, by in zip(place, contiguous_strides(after), strict=True))
        return tuple(
            flat // by % size for size, by in zip(before, contiguous_strides(before), strict=True)
        )
    if kind == "permute":
        return tuple(place[step.index(dim, 1) - 1] for dim in range(len(before)))
    if kind == "expand":
        kept = place[len(after) - len(before) :]
        return tuple(0 if size == 1 else at for size, at in zip(before, kept, strict=True))
    dim, start = step[1], step[2]
    if kind == "select":
        return *place[:dim], start, *place[dim:]
    return *place[:dim], start + place[dim] * step[3], *place[dim + 1 :]
