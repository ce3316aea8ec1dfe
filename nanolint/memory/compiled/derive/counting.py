"""How many steps a result takes: torch/_inductor/ops_handler.py, ``OpCounterCSE``, 2.13.0.

What is computed alike is counted once. What is computed of two elements is not: of those that two
parts of a tensor have, or that are joined or put into a whole; and each element is asked whether it
is in a part (lowering.py, ``cat``, ``select_scatter``, ``slice_scatter``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.memory.compiled.derive.operations import Operation
    from nanolint.memory.tensors.layout import Shape

PUT_SOMEWHERE = 6  # a part at a place that is not known


class Step(NamedTuple):
    """An operation of a kernel. ``moved`` is where its elements are, seen from those that are asked
    for: a dimension, counted from the last, and how far; sorted."""

    operation: Operation
    moved: tuple[tuple[int, object], ...] = ()

    def away(self, place: int, by: object) -> Step:
        """As much further along a dimension, or at some other place there."""
        moved = dict(self.moved)
        before = moved.pop(place, 0)
        both = isinstance(before, int) and isinstance(by, int)
        after = before + by if both else (before, by)  # type: ignore[operator]
        if after:
            moved[place] = after
        return Step(self.operation, tuple(sorted(moved.items(), key=_first)))


def _first(pair: tuple[int, object]) -> int:
    return pair[0]


def away(steps: frozenset[Step], shape: Shape, dim: int, by: object) -> frozenset[Step]:
    """These steps, of a result of ``shape``, at elements that lie elsewhere along ``dim``."""
    place = dim - len(shape)
    if not by:
        return steps
    return frozenset(
        each.away(place, by)
        if len(each.operation.shape) >= -place and each.operation.shape[place] == shape[dim]
        else each
        for each in steps
    )


def steps_of(steps: Iterable[Step]) -> int:
    """How many these are, without what they read."""
    count, asked = 0, set[object]()
    for operation, _ in steps:
        count += operation.cost
        if operation.name == "scatter part":
            asked.update(_asked(operation))
    return count + len(asked)


def _asked(part: Operation) -> Iterator[object]:
    """What is computed to put a part into a whole, each by a word of its own."""
    kind, dim, start, *rest = part.settings
    if not isinstance(dim, int) or not isinstance(start, int) or start < 0:
        yield from ((part, place) for place in range(PUT_SOMEWHERE))
        return
    source, *wholes = part.of
    place = kind, len(part.shape), dim
    yield part, "where"
    if not wholes:
        yield "zero", part.dtype
    yield place
    if kind == "select":
        yield "number", start
        yield place, "is", start
        return
    (step,) = rest
    assert isinstance(step, int)
    end = start + source.shape[dim] * step
    masks: list[object] = []
    if start:
        yield "number", start
        masks.append((place, "from", start))
    if end < part.shape[dim]:
        yield "number", end
        masks.append((place, "below", end))
    if step > 1:
        yield from (("remainder", place, start, step), "no remainder")
        masks.append((place, "every", start, step))
    yield from masks
    yield from (tuple(masks[: count + 1]) for count in range(1, len(masks)))  # all of them
    yield part, "masked"
