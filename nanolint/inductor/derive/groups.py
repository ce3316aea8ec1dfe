"""Kernels that are launched as one, how their loops are tiled, and what two groups share."""

from __future__ import annotations

from math import prod
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import dependency_on
from nanolint.inductor.derive.kernels import LIBRARY, SUMS, Kernel
from nanolint.inductor.derive.uneven import merged, through_views
from nanolint.tape.symbolic import answer
from nanolint.tensors.device import NotDerived

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.inductor.derive.access import Dependency, Memory
    from nanolint.tensors.dtypes import Dtype


class Group:
    """Kernels that are launched as one, in the order in which they were fused, as
    ``FusedSchedulerNode.fuse`` has them. ``ancestors`` and ``own`` are bits by kernel numbers."""

    __slots__ = (
        "_by_name", "_loops", "ancestors", "deps", "first", "is_library", "is_uneven", "kernels",
        "last", "made", "mixed", "mutates", "names", "numel", "own", "passing", "reads", "rnumel",
        "sums", "tilings", "writes",
    )  # fmt: skip

    def __init__(self, kernels: Sequence[Kernel], ancestors: int) -> None:
        self.kernels = tuple(kernels)
        self.is_library = self.kernels[0].kind == LIBRARY  # a call, which is never fused
        self.own = 0
        self.mutates: set[Memory] = set()
        loops, self.sums = self.kernels[0], False
        for each in self.kernels:
            self.own |= 1 << each.number
            self.mutates.update(each.mutates)
            if each.kind == SUMS and not self.sums:
                loops, self.sums = each, True
        self.ancestors = ancestors & ~self.own
        self.look()
        self.made = {each.memory for each in self.writes}
        self.names = {each.memory for each in self.reads} | self.made | self.mutates
        numbers = [each.number for each in self.kernels]
        self.first, self.last = min(numbers), max(numbers)
        self.numel, self.rnumel = loops.numel, loops.rnumel
        self.is_uneven = False  # whether a kernel has other loops than the rest
        self.mixed: tuple[Group, Group] | None = None  # sums over rows, over columns
        self.passing: set[tuple[Dtype, int]] | None = None  # once it was asked for
        self._by_name: list[Memory] | None = None
        self._loops: tuple[int, int] | None = None

    def look(self) -> None:
        """Note what its kernels read and write."""
        self.tilings: dict[bool, tuple[int, ...]] = {}  # see ``tiling.py``
        self.reads: dict[Dependency, None] = {}
        self.writes: dict[Dependency, None] = {}
        for each in self.kernels:
            self.reads |= dict.fromkeys(each.reads)
            self.writes |= dict.fromkeys(each.writes)
        for write in self.writes:
            self.reads.pop(write, None)
        self.deps = self.reads | self.writes

    @property
    def is_split_scan(self) -> bool:
        """Whether it has a scan in several steps."""
        return any(each.workspace for each in self.kernels)

    @property
    def by_name(self) -> list[Memory]:
        """All memory that it uses, by name."""
        if self._by_name is None:
            self._by_name = sorted(self.names, key=attrgetter("name"))
        return self._by_name

    @property
    def loops(self) -> tuple[int, int]:
        """The sums and the elements of each, before they were split."""
        if self._loops is None:
            split = (each.original for each in self.kernels if each.original)
            self._loops = next(split) if is_split(self) else (self.numel, self.rnumel)
        return self._loops


def copied_in_order(one: Group, other: Group) -> int:
    """Bytes that ``other`` copies into order, and does nothing else, of what ``one`` makes in
    another order (scheduler.py, ``shared_data_after_inverting_indexing``); 0 if that is not so."""
    if len(other.kernels) != 1 or other.sums or len(other.reads) != 1 or len(other.writes) != 1:
        return 0
    (read,), (write,) = other.reads, other.writes
    if (read.offset, read.loops, read.tag) == (write.offset, write.loops, write.tag):
        return 0  # one index of both: it is no copy
    made = [each for each in one.writes if each.memory is read.memory]
    if len(made) != 1 or write.tag or len(write.place[1]) != 1 or write.place[1][0][1] != 1:
        return 0
    digits = through_views(read.tag) or () if read.tag else read.loops
    loops = merged(tuple(sorted(digits, key=itemgetter(1), reverse=True)))
    alike = loops == made[0].place[1] == write.place[1] and made[0].offset == read.offset
    return read.nbytes if alike and read.numel == other.numel else 0


def invert(one: Group, other: Group) -> None:
    """Lets the one kernel of ``other`` read its source in the order in which ``one`` makes it, and
    write out of order from now on: nobody reads its result in the order in which it writes it."""
    (kernel,) = other.kernels
    (read,), (write,) = kernel.reads, kernel.writes
    (made,) = (each for each in one.writes if each.memory is read.memory)
    tag = "inverted", kernel.number
    kernel.stays = read.place == write.place  # scheduler.py, ``compute_dependencies``
    kernel.reads = (dependency_on(made.memory, made.offset, merged(made.loops), ()),)
    kernel.writes = (dependency_on(write.memory, write.offset, write.loops, tag),)
    other.is_uneven = True
    other.look()


def joined(one: Group, other: Group) -> Group:
    return Group(one.kernels + other.kernels, one.ancestors | other.ancestors)


def waits_for_others(one: Group, other: Group, of: Sequence[Group]) -> bool:
    """Whether ``other`` reads what a third makes of what ``one`` makes; ``of`` are the groups that
    the kernels are in."""
    for read in other.reads:
        maker = read.memory.of
        if maker is not None and one.own & of[maker].ancestors and read.memory not in other.made:
            return True
    return False


def makers(each: Kernel) -> list[int]:
    """The kernels that it waits for."""
    made = [read.memory.of for read in each.reads]
    found = [of for of in made if of is not None and of != each.number]
    return found + [other.number for other in each.after]


def is_split(group: Group) -> bool:
    sums = [each for each in group.kernels if each.kind == SUMS]
    return bool(sums) and all(each.original for each in sums)


def reads_all(group: Group, memory: Memory) -> bool:
    """Whether it reads each element once, in whatever order."""
    first, elements = group.loops
    return any(read.covers(first * elements) for read in group.reads if read.memory is memory)


def is_contiguous(group: Group) -> bool:
    """Whether the innermost loop walks through memory step by step, or stays."""
    return all(each.steps_by_one for kernel in group.kernels for each in kernel.reads)


def steps_by_one(group: Group, memory: Memory) -> bool:
    """Whether the innermost loop does so when it reads this memory."""
    reads = [each for each in group.reads if each.memory is memory]
    return all(each.steps_by_one for each in reads)


def goes_through(numbers: Sequence[int]) -> bool:
    """Whether loops go through so many sums and the elements of each: not if one is partly of the
    next sum (codegen/simd.py, ``SIMDKernel.is_compatible``)."""
    return answer(_can_be_split, [*numbers])


def _can_be_split(numbers: list[int]) -> bool:
    numel, rnumel, *sizes = numbers
    for size in sizes:
        if numel == 1:
            numel, rnumel = rnumel, 1
        if numel % size == 0:
            numel //= size
            continue
        inner = size // numel
        if size % numel or rnumel % inner:
            return False
        numel, rnumel = rnumel // inner, 1
    return True


def in_order(groups: list[Group], makers: Sequence[Sequence[int]]) -> list[Group]:
    """``topological_sort_schedule``; ``makers`` are the kernels that each kernel waits for.

    Raises NotDerived if groups wait for each other, which PyTorch's never do.
    """
    by_kernel = {each.number: group for group in groups for each in group.kernels}
    name_of = {each.number: each.name for group in groups for each in group.kernels}
    found: dict[int, Group] = {}
    waiting: dict[int, list[Group]] = {}
    for group in groups:
        names: dict[str, Group] = {}
        for kernel in group.kernels:
            for other in makers[kernel.number]:
                target = by_kernel[other]
                if target is not group:
                    names.setdefault(name_of[other], target)
        waiting[group.first] = [names[name] for name in sorted(names)]
    for group in groups:
        stack, within = [group], {group.first}
        while stack:
            current = stack[-1]
            if current.first in found:
                stack.pop()
                continue
            pending = next(
                (each for each in waiting[current.first] if each.first not in found), None
            )
            if pending is None:
                found[current.first] = current
                stack.pop()
            elif pending.first in within:
                raise NotDerived("kernels that wait for each other")
            else:
                within.add(pending.first)
                stack.append(pending)
    return list(found.values())


Tiling = tuple[int, ...]  # the outer and the inner one, or one of all elements
EVEN = 32  # a good size is a multiple of it


def fits(one: Group, other: Group, *, merges: bool) -> bool:
    """``SIMDScheduling.can_fuse``: the same loops and tiles, or those of a sum; ``merges`` is
    whether loops were merged before."""
    if one.sums and other.sums and one.is_split_scan != other.is_split_scan:
        return False
    if one.sums == other.sums:
        is_same = one.numel == other.numel and one.rnumel == other.rnumel
        return is_same and (one.sums or _are_tiled_alike(one, other, merges=merges))
    loops, sums = (other, one) if one.sums else (one, other)
    if loops.numel != sums.numel * sums.rnumel:
        return loops.numel == sums.numel
    found = [(sums.numel, sums.rnumel, *each.sizes(merges=merges)) for each in loops.kernels]
    if not all(goes_through(each) for each in dict.fromkeys(found)):
        return False
    return _is_tiled_as(loops, sums, merges=merges)


def _are_tiled_alike(one: Group, other: Group, *, merges: bool) -> bool:
    """Whether elementwise kernels keep their tiles when they are launched as one."""
    first, second = (_own_tiling(each, merges=merges) for each in (one, other))
    if len(first) == len(second) == 1:
        return True
    both = tiling_of((*one.kernels, *other.kernels), one.numel, merges=merges)
    return all(each == both for each in (first, second) if len(each) > 1)


def _is_tiled_as(loops: Group, sums: Group, *, merges: bool) -> bool:
    """Whether elementwise kernels are tiled as the sums that they are to be launched with, or not
    at all."""
    found = _own_tiling(loops, merges=merges)
    return len(found) == 1 or found == (sums.numel, sums.rnumel)


def _own_tiling(group: Group, *, merges: bool) -> Tiling:
    """The tiles of a group, which is held against all others."""
    if merges not in group.tilings:
        group.tilings[merges] = tiling_of(group.kernels, group.numel, merges=merges)
    return group.tilings[merges]


def tiling_of(kernels: Sequence[Kernel], numel: int, *, merges: bool) -> Tiling:
    """The tiles of these kernels together: of those that one of them would have, the best that all
    can be split into."""
    found: dict[Memory, tuple[int, Tiling]] = {}
    for kernel in kernels:
        for memory, score, tiles in _candidates(kernel, merges=merges):
            found.setdefault(memory, (score, tiles))
    if not found:
        return (numel,)
    sizes = dict.fromkeys([each.sizes(merges=merges) for each in kernels])
    for _, tiles in sorted(found.values(), key=itemgetter(0), reverse=True):
        if all(goes_through((*tiles, *each)) for each in sizes):
            return tiles
    return (numel,)


def _candidates(kernel: Kernel, *, merges: bool) -> Iterator[tuple[Memory, int, Tiling]]:
    """Tiles at the loop in which some memory is gone through element by element, if that is not the
    innermost: what they are worth, and for which memory."""
    sizes, walks = kernel.walks(merges=merges)
    for dep, strides in walks:
        place = next((at for at, stride in enumerate(strides) if stride == 1), -1) + 1
        if not place or not any(strides[place:]):
            continue
        tiles = prod(sizes[:place]), prod(sizes[place:])
        score = prod(size for size, stride in zip(sizes, strides, strict=True) if stride)
        score *= 2 ** (dep in kernel.writes) * 2 ** sum(map(_is_good, tiles))
        if score >= prod(sizes):
            yield dep.memory, score, tiles


def _is_good(size: int) -> bool:
    return size >= EVEN and size % EVEN == 0
