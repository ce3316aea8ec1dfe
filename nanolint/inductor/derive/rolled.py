"""The loop of a launch in which each of its kernels runs, if sums are too long to be held at once
(torch/_inductor/codegen/simd.py, ``generate_node_schedule``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.kernels import SUMS

if TYPE_CHECKING:
    from nanolint.inductor.derive.access import Memory
    from nanolint.inductor.derive.groups import Group
    from nanolint.inductor.derive.kernels import Kernel


def loops_of(group: Group) -> dict[int, int]:
    """The loop of each kernel, by number: one ends before what reads a sum of it, and before what
    each sum is read by once. What shares nothing with a loop begins another, if nothing after it
    does."""
    found: dict[int, int] = {}
    current: list[Kernel] = []
    sums: list[Kernel] = []
    used: set[Memory] = set()
    split: int | None = None
    loop = 0

    def close() -> None:
        nonlocal loop, split
        for place, each in enumerate(current):
            found[each.number] = loop + (split is not None and place >= split)
        loop += 2
        split = None
        current.clear()
        sums.clear()
        used.clear()

    for kernel in group.kernels:
        if (kernel.numel, kernel.rnumel) == (group.numel, 1) and group.rnumel != 1:
            close()
            found[kernel.number] = loop
            continue
        if any(precedes(each, kernel, group) for each in sums):
            close()
        read = {each.memory for each in kernel.reads}
        if not used or used & read:
            split = None
        elif split is None:
            split = len(current)
        current.append(kernel)
        used |= read
        if kernel.kind == SUMS and not kernel.scans:  # ``schedule_node_in_loop``
            sums.append(kernel)
        else:
            used.update(each.memory for each in kernel.writes)
    split = None
    close()
    return found


def precedes(one: Kernel, other: Kernel, group: Group) -> bool:
    """Whether ``other`` waits for ``one`` inside the launch."""
    inside = {kernel.number: kernel for kernel in group.kernels}
    unseen, seen = [other], {other.number}
    while unseen:
        for read in unseen.pop().reads:
            maker = read.memory.of
            if maker == one.number:
                return True
            if maker is not None and maker in inside and maker not in seen:
                seen.add(maker)
                unseen.append(inside[maker])
    return False
