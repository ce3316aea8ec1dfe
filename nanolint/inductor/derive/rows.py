"""The rows that a sum of everything is split by: those of the reductions before it
(torch/_inductor/dependencies.py, ``extract_input_node_reduction_ranges``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.inductor.derive.kernels import LIBRARY, SUMS, Kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.buffers import Memory
    from nanolint.inductor.derive.values import Value
    from nanolint.tensors.layout import Shape


class Rows(NamedTuple):
    """The sizes of a reduction's result, and how many elements each is of."""

    shape: Shape
    reduced: int


def rows_before(value: Value, kernels: Sequence[Kernel]) -> Rows | None:
    """The loops of the reductions that are read, or that what is read was made of, where they are
    all the same; None of what is memory already."""
    if value.box.memory is not None:
        return None
    read = dict.fromkeys(access.memory for access in value.box.reads)
    found = set[Rows]()
    while read and not found:
        before: dict[Memory, None] = {}
        for memory in read:
            kernel = None if memory.of is None else kernels[memory.of]
            if kernel is None or kernel.kind == LIBRARY:
                continue
            if kernel.kind == SUMS:
                found.add(Rows(memory.shape, kernel.rnumel))
            else:
                before |= dict.fromkeys(each.memory for each in kernel.reads)
        if before == read:
            break
        read = before
    return found.pop() if len(found) == 1 else None
