"""PyTorch's caching allocator with its defaults, as plainly as it can be written.

Written apart from nanolint's own, which the recorded ``reserved`` bytes are there to check. Its
rules are those of c10/cuda/CUDACachingAllocator.cpp: two pools, best fit, lowest address first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from card import ROUNDING, Kind, rounded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from card import Event

MIB = 1 << 20


class Segment:
    """Memory taken from the card in one piece, cut into (offset, size) that are free or not."""

    def __init__(self, address: int, nbytes: int) -> None:
        self.address = address
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


def peak_reserved(events: Iterable[Event]) -> int:
    """The bytes that the allocator holds after ``events``; on an endless card it returns none."""
    pools = {small: Pool(small=small) for small in (True, False)}
    held: dict[int, tuple[Segment, int, int]] = {}
    reserved = 0
    for event in events:
        if event.kind is Kind.ALLOCATION:
            size = rounded(event.bytes)
            pool = pools[size <= MIB]
            place = pool.best_fit(size)
            if place is None:
                nbytes = pool.segment_bytes(size)
                place = Segment(reserved, nbytes), 0
                pool.segments.append(place[0])
                reserved += nbytes
            segment, offset = place
            held[event.number] = segment, offset, segment.take(offset, size, pool.least_rest)
        elif event.kind is Kind.RELEASE:
            segment, offset, size = held.pop(event.number)
            segment.give_back(offset, size)
    return reserved
