"""Results that a launch holds without memory: nobody else reads them, and no sum is too long.

A sum that is short enough is computed at once; over a longer one its launch goes in loops, of which
each reads again from memory what another one has made (torch/_inductor/codegen/triton.py, and
codegen/simd.py, ``generate_node_schedule``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.groups import is_contiguous
from nanolint.inductor.derive.kernels import SUMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.inductor.derive.access import Memory
    from nanolint.inductor.derive.groups import Group
    from nanolint.inductor.derive.kernels import Kernel

    Readers = Mapping[Memory, Sequence[tuple[Group, Kernel]]]

HELD_IN_ROWS, HELD_ELSEWHERE = 1024, 64  # elements
# codegen/simd_kernel_features.py: bytes along a sum for one across, of any and of short ones.
MUCH_MORE, MORE, SHORT = 32, 16, 512


class Held:
    """Which memory the launches of a graph hold. ``weighs``: see ``Inductor``."""

    def __init__(self, readers: Readers, *, weighs: bool) -> None:
        self._readers = readers
        self._weighs = weighs
        self._loops: dict[Group, dict[int, int]] = {}  # of those that were asked for

    def is_inside(self, memory: Memory, group: Group) -> bool:
        """Whether nobody reads it but its own launch, which holds it."""
        return self._is_its_own(memory, group) and not (
            self._is_looped(group) and self._is_read_again(memory, group)
        )

    def _is_its_own(self, memory: Memory, group: Group) -> bool:
        readers = self._readers.get(memory, ())
        return not memory.kept and all(reader is group for reader, _ in readers)

    def _is_read_again(self, memory: Memory, group: Group) -> bool:
        """Whether it is read in another loop than it was made in (codegen/common.py,
        ``invalidated_stores``)."""
        maker = next((each for each in group.kernels if each.number == memory.of), None)
        if maker is None or (maker.kind == SUMS and not maker.scans):
            return False
        if maker.made != group.numel * group.rnumel:
            return False
        loops = self._loops.get(group)
        if loops is None:
            loops = self._loops[group] = loops_of(group)
        return any(
            loops[reader.number] != loops[maker.number]
            for _, reader in self._readers.get(memory, ())
        )

    def _is_looped(self, group: Group) -> bool:
        """Whether its sums are too long to be held at once (choices.py,
        ``should_use_persistent_reduction``)."""
        if not group.sums or group.rnumel <= HELD_ELSEWHERE:
            return False
        return group.rnumel > HELD_IN_ROWS or not (is_contiguous(group) or self._goes_along(group))

    def _goes_along(self, group: Group) -> bool:
        """``tiling_scores_suggest_inner_reduction``: whether it goes along its sums through many
        more bytes than across, element by element; those that are written count twice."""
        if not self._weighs:
            return False
        along, across = 0, 0
        made = {write.memory for kernel in group.kernels for write in kernel.writes}
        reads = {read for kernel in group.kernels for read in kernel.reads}
        writes = {write for kernel in group.kernels for write in kernel.writes}
        counted = [
            *((each, 1) for each in reads if each.memory not in made),
            *((each, 2) for each in writes if not self._is_its_own(each.memory, group)),
        ]
        for each, times in counted:
            if each.tag or not each.loops or each.loops[-1][1] != 1:
                continue
            if each.numel == group.rnumel or group.numel < each.numel:
                along += times * each.nbytes
            else:
                across += times * each.nbytes
        least = MUCH_MORE if group.rnumel > SHORT else MORE
        return along >= least * max(1, across)


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
