"""How many steps a result takes: torch/_inductor/ops_handler.py, ``OpCounterCSE``, 2.13.0.

What is computed alike is counted once. That is told of parts that are put into a whole, which ask
for each element whether it is in the part (lowering.py, ``select_scatter``, ``slice_scatter``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.memory.compiled.derive.operations import Operation

PUT_SOMEWHERE = 6  # a part at a place that is not known


def steps_of(operations: Iterable[Operation]) -> int:
    """The steps of these operations, without what they read."""
    count, asked = 0, set[object]()
    for each in operations:
        count += each.cost
        if each.name == "scatter part":
            asked.update(_asked(each))
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
