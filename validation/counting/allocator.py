"""PyTorch's caching allocator with its defaults, as plainly as it can be written.

Written apart from nanolint's own, which the recorded ``reserved`` bytes are there to check. Its
rules are those of c10/cuda/CUDACachingAllocator.cpp: two pools, best fit, lowest address first.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from validation.counting.card import ROUNDING, Kind, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.counting.card import Event

MIB = 1 << 20
STEP = 2 * MIB  # every segment is a multiple of it, so limits in between differ in nothing


class OutOfMemory(Exception):
    """The card has no room for another segment, even without the cached ones."""


class Segment:
    """Memory taken from the card in one piece, cut into (offset, size) that are free or not."""

    def __init__(self, address: int, nbytes: int) -> None:
        self.address = address
        self.nbytes = nbytes
        self.free: dict[int, int] = {0: nbytes}  # size by offset

    def take(self, offset: int, size: int, least_rest: int) -> int:
        """Take ``size`` bytes at ``offset``, or all there is if too little would be left."""
        whole = self.free.pop(offset)
        if whole - size < least_rest:
            return whole
        self.free[offset + size] = whole - size
        return size

    def give_back(self, offset: int, size: int) -> None:
        """Free a piece and join it with the free pieces on either side."""
        size += self.free.pop(offset + size, 0)
        for before, length in self.free.items():
            if before + length == offset:
                self.free[before] = length + size
                return
        self.free[offset] = size

    @property
    def unused(self) -> bool:
        """Whether nothing lives in it."""
        return self.free.get(0) == self.nbytes


class Pool:
    """The segments of the small requests, or of the large ones."""

    def __init__(self, *, small: bool) -> None:
        self.small = small
        self.least_rest = ROUNDING if small else MIB + 1  # a smaller rest is not split off
        self.segments: list[Segment] = []

    def best_fit(self, size: int) -> tuple[Segment, int] | None:
        """The smallest free piece that holds ``size`` bytes, the first of equals."""
        fits = [
            (length, segment.address + offset, segment, offset)
            for segment in self.segments
            for offset, length in segment.free.items()
            if length >= size
        ]
        if not fits:
            return None
        _, _, segment, offset = min(fits, key=lambda fit: fit[:2])
        return segment, offset

    def segment_bytes(self, size: int) -> int:
        """How much to ask the card for, when nothing fits."""
        if self.small:
            return 2 * MIB
        if size < 10 * MIB:
            return 20 * MIB
        return -(-size // (2 * MIB)) * 2 * MIB


class Allocator:
    """Both pools, on a card that has ``limit`` bytes for them."""

    def __init__(self, limit: float = math.inf) -> None:
        self.pools = {small: Pool(small=small) for small in (True, False)}
        self.limit = limit
        self.reserved = 0
        self._next_address = 0  # not used again: a segment given up leaves a gap

    def allocate(self, nbytes: int) -> tuple[Segment, int, int]:
        """Segment, offset and size of a piece for ``nbytes`` bytes; raises OutOfMemory."""
        size = rounded(nbytes)
        pool = self.pools[size <= MIB]
        segment, offset = pool.best_fit(size) or (self._grow(pool, pool.segment_bytes(size)), 0)
        return segment, offset, segment.take(offset, size, pool.least_rest)

    def _grow(self, pool: Pool, nbytes: int) -> Segment:
        if self.reserved + nbytes > self.limit:
            self._give_up_unused()
        if self.reserved + nbytes > self.limit:
            raise OutOfMemory
        segment = Segment(self._next_address, nbytes)
        pool.segments.append(segment)
        self._next_address += nbytes
        self.reserved += nbytes
        return segment

    def _give_up_unused(self) -> None:
        for pool in self.pools.values():
            self.reserved -= sum(segment.nbytes for segment in pool.segments if segment.unused)
            pool.segments = [segment for segment in pool.segments if not segment.unused]


class Played(NamedTuple):
    """Peaks, in bytes: of what is in use (rests that were not split off too) and of all held."""

    allocated: int
    reserved: int


def play(events: Sequence[Event], limit: float = math.inf) -> Played:
    """The peaks over ``events`` on a card with ``limit`` bytes; raises OutOfMemory."""
    allocator = Allocator(limit)
    held: dict[int, tuple[Segment, int, int]] = {}
    allocated = most_allocated = most_reserved = 0
    for event in events:
        if event.kind is Kind.ALLOCATION:
            held[event.number] = allocator.allocate(event.bytes)
            allocated += held[event.number][2]
            most_allocated = max(most_allocated, allocated)
            most_reserved = max(most_reserved, allocator.reserved)
        elif event.kind is Kind.RELEASE:
            segment, offset, size = held.pop(event.number)
            segment.give_back(offset, size)
            allocated -= size
    return Played(most_allocated, most_reserved)


def least_limit(events: Sequence[Event]) -> int:
    """The fewest bytes, in whole steps of 2 MiB, on which ``events`` can be played."""
    unlimited = play(events)
    fails, survives = unlimited.allocated // STEP - 1, -(-unlimited.reserved // STEP)
    while survives - fails > 1:
        middle = (fails + survives) // 2
        try:
            play(events, middle * STEP)
            survives = middle
        except OutOfMemory:
            fails = middle
    return survives * STEP
