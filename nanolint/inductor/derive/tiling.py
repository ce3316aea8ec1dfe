"""How the loops of elementwise kernels are tiled, which decides what is launched with them:
torch/_inductor/codegen/simd.py, ``candidate_tilings``, ``select_tiling`` and ``can_fuse``."""

from __future__ import annotations

from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING

from nanolint.inductor.derive.groups import goes_through

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.inductor.derive.buffers import Memory
    from nanolint.inductor.derive.groups import Group
    from nanolint.inductor.derive.kernels import Kernel

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
