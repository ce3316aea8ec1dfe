"""Loops that are put into another order, so that two kernels may be launched as one:
torch/_inductor/scheduler.py, ``shared_data_after_reordering_loop``."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.memory.compiled.derive.access import Dependency
    from nanolint.memory.compiled.derive.groups import Group

Loops = tuple[tuple[int, int], ...]


class Reordered:
    """Loops of ``one``, or of ``other`` where the first has sums, in an order that makes ``mine``
    and ``theirs`` the same."""

    def __init__(self, one: Group, other: Group, mine: Dependency, theirs: Dependency) -> None:
        self._is_first = not one.sums
        before, after = (mine, theirs) if self._is_first else (theirs, mine)
        self._sizes = [size for size, _ in before.loops]
        self._order = [before.loops.index(loop) for loop in after.loops]
        moved, still = (one, other) if self._is_first else (other, one)
        places = {(each.memory, each.offset, self._loops(each)) for each in moved.deps}
        self.nbytes = sum(
            each.nbytes
            for each in still.deps
            if not each.tag and (each.memory, each.offset, each.loops) in places
        )

    def _loops(self, each: Dependency) -> Loops | None:
        """Its loops in the new order; None where no strides tell."""
        if each.tag:
            return None
        loops = [*each.loops, *((size, 0) for size in self._sizes[len(each.loops) :])]
        found = [loops[place] for place in self._order]
        while found and not found[-1][1]:
            found.pop()
        return tuple(found)

    def meet(self, read: Dependency, write: Dependency) -> bool:
        """Whether what ``other`` reads is then where ``one`` writes it, in the same order."""
        if self._is_first:
            return read.offset == write.offset and self._loops(write) == read.loops
        return read.offset == write.offset and self._loops(read) == write.loops


def shared_in_other_loops(one: Group, other: Group) -> tuple[int, Reordered | None]:
    """Bytes that both go through alike once loops are merged, or put into another order: that of
    the largest memory for which this can be done, what one of them writes first."""
    best, found = (False, 0), None
    for mine in one.deps:
        for theirs in other.deps:
            if mine.memory is not theirs.memory or mine.tag or theirs.tag:
                continue
            is_same = mine.place == theirs.place
            if is_same or _can_be_moved(mine, theirs, one, other):
                key = mine in one.writes or theirs in other.writes, mine.nbytes
                if key > best:
                    best, found = key, None if is_same else (mine, theirs)
    moved = found and Reordered(one, other, *found)
    return (moved.nbytes if moved else best[1]), moved


def _can_be_moved(mine: Dependency, theirs: Dependency, one: Group, other: Group) -> bool:
    """Whether only the order of loops is another, which only elementwise kernels may change, and
    only if each of theirs leads to another place (``reorder_loops_by_dep_pair``; dependencies.py,
    ``decide_loop_order_to_match``)."""
    moved, place = (other, theirs) if one.sums else (one, mine)
    return (
        not (one.sums and other.sums)
        and not moved.is_uneven
        and prod(size for size, stride in place.loops if stride) == moved.numel
        and mine.offset == theirs.offset
        and len(mine.loops) == len(theirs.loops)
        and sorted(mine.loops) == sorted(theirs.loops)
    )
