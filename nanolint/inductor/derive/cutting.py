"""Loops of elementwise kernels that are cut as those of a sum, so that both may be launched as one:
torch/_inductor/scheduler.py, ``_try_reindex_pointwise_for_reduction``, 2.13.0."""

from __future__ import annotations

from copy import copy
from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import dependency_on
from nanolint.inductor.derive.groups import Group, goes_through
from nanolint.inductor.derive.viewed import merged, taken_off, through_views

if TYPE_CHECKING:
    from nanolint.inductor.derive.access import Dependency, Memory

Loops = tuple[tuple[int, int], ...]
CUT = "cut"  # in the tag of what is gone through in loops of its own


class Cut:
    """The two groups, were the loops of the elementwise one those of the other."""

    def __init__(self, one: Group, other: Group) -> None:
        self._old, sums = (other, one) if one.sums else (one, other)
        self._groups = sums.numel, sums.rnumel
        new = [copy(each) for each in self._old.kernels]
        for each in new:
            sizes = each.sizes(merges=False)
            each.reads = tuple([self._cut(read, sizes) for read in each.reads])
            each.writes = tuple([self._cut(write, sizes) for write in each.writes])
        self._new = Group(new, self._old.ancestors)
        self._new.is_uneven = self._old.is_uneven
        self.one, self.other = (one, self._new) if one.sums else (self._new, other)

    def _cut(self, each: Dependency, sizes: tuple[int, ...]) -> Dependency:
        numel, rnumel = self._groups
        if each.tag:
            digits = through_views(each.tag)
        else:
            digits = *each.loops, *((size, 0) for size in sizes[len(each.loops) :])
        parts = None if digits is None else parts_of(digits, numel, rnumel)
        if parts is None:
            tag = *each.tag, *each.loops, CUT, numel, rnumel
            return dependency_on(each.memory, each.offset, (), tag, each.numel)
        if max(map(len, parts)) > 1:  # in loops of its own
            tag = CUT, *parts
            return dependency_on(each.memory, each.offset, (), tag, each.numel)
        loops = [loop for part in parts for loop in part if loop[0] != 1]
        while loops and not loops[-1][1]:
            loops.pop()
        return dependency_on(each.memory, each.offset, tuple(loops), ())

    def apply(self) -> None:
        """Let the loops run so from now on."""
        for old, new in zip(self._old.kernels, self._new.kernels, strict=True):
            old.reads, old.writes = new.reads, new.writes
        self._old.look()

    @property
    def pays(self) -> bool:
        """Whether anything is then gone through as the sums do."""
        mine, theirs = _by_memory(self.one), _by_memory(self.other)
        return any(
            each is theirs[memory]
            or (not (each.tag or theirs[memory].tag) and each.place == theirs[memory].place)
            for memory, each in mine.items()
            if memory in theirs
        )


def cut_as_sums(one: Group, other: Group) -> Cut | None:
    """Returns the gain of that; None if there is none, or the loops are other ones."""
    if one.sums == other.sums or one.is_library or other.is_library:
        return None
    loops, sums = (other, one) if one.sums else (one, other)
    groups = sums.numel, sums.rnumel
    sizes = dict.fromkeys([each.sizes(merges=False) for each in loops.kernels])
    if () in sizes or [*sizes] == [groups] or any(each.mutates for each in loops.kernels):
        return None
    if any(each.numel != sums.numel * sums.rnumel for each in loops.kernels):
        return None
    if not all(goes_through((*groups, *each)) for each in sizes):
        return None
    found = Cut(one, other)
    return found if found.pays else None


def _by_memory(group: Group) -> dict[Memory, Dependency]:
    """The last use of each memory."""
    return {each.memory: each for each in (*group.reads, *group.writes)}


def parts_of(digits: Loops, numel: int, rnumel: int) -> tuple[Loops, Loops] | None:
    """The loops of so many sums, and those of the elements of each; None if one is of both."""
    left = list(merged(tuple([each for each in digits if each[0] != 1])))
    inner = taken_off(left, rnumel)
    if inner is None or prod(size for size, _ in left) != numel:
        return None
    return merged(tuple(left)), merged(tuple(inner))
