"""Loops that are put into another order or cut, so that two kernels may be launched as one.

torch/_inductor/scheduler.py, 2.13.0: ``shared_data_after_reordering_loop`` changes the order,
``_try_reindex_pointwise_for_reduction`` cuts elementwise loops as those of a sum are.
"""

from __future__ import annotations

from copy import copy
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import dependency_on
from nanolint.inductor.derive.groups import Group, goes_through
from nanolint.inductor.derive.uneven import merged, taken_off, through_views

if TYPE_CHECKING:
    from nanolint.inductor.derive.access import Dependency, Memory
    from nanolint.inductor.derive.kernels import Kernel

Loops = tuple[tuple[int, int], ...]


class Reordered:
    """Loops of ``one``, or of ``other`` if the first has sums, in an order that makes ``mine``
    and ``theirs`` the same."""

    def __init__(self, one: Group, other: Group, mine: Dependency, theirs: Dependency) -> None:
        self._is_first = not one.sums
        before, after = (mine, theirs) if self._is_first else (theirs, mine)
        self._sizes = [size for size, _ in before.loops]
        self._order = [before.loops.index(loop) for loop in after.loops]
        self._moved, self._still = (one, other) if self._is_first else (other, one)
        places = {(each.memory, each.offset, self._loops(each)) for each in self._moved.deps}
        self.nbytes = sum(
            each.nbytes
            for each in self._still.deps
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

    @property
    def groups(self) -> tuple[Group, Group]:
        """Both groups, did the loops run so."""
        kernels = [copy(each) for each in self._moved.kernels]
        for each in kernels:
            self._move(each)
        made = Group(kernels, self._moved.ancestors)
        made.is_uneven = self._moved.is_uneven
        return (made, self._still) if self._is_first else (self._still, made)

    def apply(self) -> None:
        """Let the loops run so from now on (scheduler.py, ``apply_new_loop_order``)."""
        for each in self._moved.kernels:
            self._move(each)
        self._moved.look()

    def _move(self, kernel: Kernel) -> None:
        kernel.reads = tuple(map(self._reordered, kernel.reads))
        kernel.writes = tuple(map(self._reordered, kernel.writes))

    def _reordered(self, each: Dependency) -> Dependency:
        loops = self._loops(each)
        if loops is not None:
            return dependency_on(each.memory, each.offset, loops, ())
        tag = *each.tag, "reordered", *self._order
        return dependency_on(each.memory, each.offset, each.loops, tag, each.numel)

    def meet(self, read: Dependency, write: Dependency) -> bool:
        """Whether ``other`` then reads the places that ``one`` writes, in the same order."""
        if self._is_first:
            return read.offset == write.offset and self._loops(write) == read.loops
        return read.offset == write.offset and self._loops(read) == write.loops


def shared_in_other_loops(
    one: Group, other: Group, *, by_size: bool = False
) -> tuple[int, Reordered | None]:
    """Bytes that both go through alike once loops are merged, or put into another order, and that
    order (``_try_reorder_loops_for_candidates``); ``by_size``: as releases before 2.13 choose."""
    pair = _largest(one, other) if by_size else _decisive(one, other)
    if pair is None:
        return 0, None
    mine, theirs = pair
    if len(mine.loops) != len(theirs.loops):
        return (mine.nbytes if mine.place == theirs.place else 0), None
    if not _can_be_moved(mine, theirs, one, other):
        return 0, None
    moved = Reordered(one, other, mine, theirs)
    return moved.nbytes, moved


def _decisive(one: Group, other: Group) -> tuple[Dependency, Dependency] | None:
    """The accesses by which the order is decided: those of the largest memory that both go through
    alike but for the order, what one of them writes first; None where another that one writes and
    the other reads forbids it."""
    mine, theirs = _by_memory(one), _by_memory(other)
    best, found = (False, 0), None
    for memory, (read, write) in mine.items():
        if memory not in theirs:
            continue
        other_read, other_write = theirs[memory]
        first, second = _last((read, write)), _last((other_read, other_write))
        is_passed = bool((write and other_read) or (other_write and read))
        if not (first.tag or second.tag) and _sorted(first) == _sorted(second):
            key = is_passed, first.numel
            if key > best:
                best, found = key, (first, second)
        elif is_passed and not _is_part(write or other_write, other_read or read):
            return None
    return found


def _largest(one: Group, other: Group) -> tuple[Dependency, Dependency] | None:
    """The accesses of the largest memory that both go through alike but for the order. Of memory as
    large the first decides that the group which touches less has."""
    mine, theirs = _by_memory(one), _by_memory(other)
    few, many = (mine, theirs) if len(mine) < len(theirs) else (theirs, mine)
    common = [(_last(mine[each]), _last(theirs[each])) for each in few if each in many]
    alike = [
        (first, second)
        for first, second in common
        if not (first.tag or second.tag) and _sorted(first) == _sorted(second)
    ]
    return max(alike, key=lambda pair: pair[0].numel, default=None)


def _last(uses: tuple[Dependency | None, Dependency | None]) -> Dependency:
    read, write = uses
    found = write or read
    assert found is not None
    return found


def _by_memory(group: Group) -> dict[Memory, tuple[Dependency | None, Dependency | None]]:
    """The last read and write of each memory."""
    reads = {each.memory: each for each in group.reads}
    writes = {each.memory: each for each in group.writes}
    return {each: (reads.get(each), writes.get(each)) for each in reads | writes}


def _sorted(each: Dependency) -> tuple[int, Loops]:
    """``normalize_with_stride_order``."""
    ordered = sorted(each.loops, key=itemgetter(1), reverse=True)
    return each.offset, merged(tuple(ordered))


def _is_part(write: Dependency | None, read: Dependency | None) -> bool:
    """Whether the loops of what is written are among those of what is read, whose own are not known
    where no strides tell them: then they are more than one."""
    assert write is not None and read is not None
    sizes = [size for size, _ in merged(write.loops)]
    if read.tag:
        return len(sizes) > 1
    return {*sizes} <= {size for size, _ in merged(read.loops)}


def _can_be_moved(mine: Dependency, theirs: Dependency, one: Group, other: Group) -> bool:
    """Whether only the order of loops is another, which only elementwise kernels may change, and
    only if each of theirs leads to another place (``reorder_loops_by_dep_pair``; dependencies.py,
    ``decide_loop_order_to_match``)."""
    moved, place = (other, theirs) if one.sums else (one, mine)
    return (
        not (one.sums and other.sums)
        and not moved.is_uneven
        and prod(size for size, stride in place.loops if stride) == moved.numel
        and sorted(mine.loops) == sorted(theirs.loops)
    )


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
        mine, theirs = _last_uses(self.one), _last_uses(self.other)
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


def _last_uses(group: Group) -> dict[Memory, Dependency]:
    """The last use of each memory."""
    return {each.memory: each for each in (*group.reads, *group.writes)}


def parts_of(digits: Loops, numel: int, rnumel: int) -> tuple[Loops, Loops] | None:
    """The loops of so many sums, and those of the elements of each; None if one is of both."""
    left = list(merged(tuple([each for each in digits if each[0] != 1])))
    inner = taken_off(left, rnumel)
    if inner is None or prod(size for size, _ in left) != numel:
        return None
    return merged(tuple(left)), merged(tuple(inner))
