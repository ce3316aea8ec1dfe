"""The caching allocator with expandable_segments:True: one growing segment per pool.

A segment is a range of addresses, mapped page by page (2 MiB small, 20 MiB large): a free block at
its mapped end grows instead of leaving a hole. Blocks that are not mapped stand in the segment's
list, so that a hole left by a release can be mapped again.
"""

from __future__ import annotations

from bisect import bisect_left, insort

from nanolint.tape.allocator.caching import (
    LARGE_SEGMENT,
    SMALL_REQUEST,
    SMALL_SEGMENT,
    Block,
    CachingAllocator,
    Full,
    segment_bytes,
)
from nanolint.tape.tape import ROUNDING

# A segment's address range is 9/8 of the card; on an unlimited card it never ends.
ENDLESS = 1 << 200


class ExpandableAllocator(CachingAllocator):
    """See the module. Within a pool every free block may be split down to 512 bytes."""

    def __init__(self, limit_bytes: int | None = None) -> None:
        super().__init__(limit_bytes)
        self._unmapped: dict[bool, list[tuple[int, Block]]] = {}
        for small in (False, True):
            whole = Block(ENDLESS, 0, small)
            whole.mapped = False
            self._unmapped[small] = [(0, whole)]

    def malloc(self, size: int) -> Block:
        small = size <= SMALL_REQUEST
        pool = self.pools[small]
        at = bisect_left(pool, (size,))
        if at < len(pool):
            # A block that could grow counts as large as it could become, so it comes last.
            while at + 1 < len(pool) and _potential(pool[at + 1][2]) < _potential(pool[at][2]):
                at += 1
            block = pool.pop(at)[2]
        else:
            block = self._map_room(size, small)
        block.free = False
        rest = block.size - size
        if rest >= ROUNDING:
            self._split(block, size, rest)
        self.allocated += block.size
        return block

    def _map_room(self, size: int, small: bool) -> Block:
        """The first run of free and unmapped blocks that holds ``size``, mapped and merged."""
        for attempt in range(2):
            start = self._room(size, small)
            block = start if start.mapped else self._map(start, size)
            while block is not None and block.size < size:
                following = block.next
                assert following is not None
                block = self._map(following, size - block.size)
            if block is not None:
                pool = self.pools[small]
                del pool[bisect_left(pool, (block.size, block.address))]
                return block
            if attempt == 0:
                self.retries += 1
                self._release_cached()
        raise Full(segment_bytes(size))

    def _room(self, size: int, small: bool) -> Block:
        for _, hole in self._unmapped[small]:
            before = hole.previous
            start = before if before is not None and before.free else hole
            room, block = 0, start
            while room < size and (block.free or not block.mapped):
                room += block.size
                if block.next is None:
                    break
                block = block.next
            if room >= size:
                return start
        raise AssertionError("an address range ended")

    def _map(self, hole: Block, nbytes: int) -> Block | None:
        """Map the start of ``hole`` in whole pages; returns the free block it merged into."""
        page = SMALL_SEGMENT if hole.small else LARGE_SEGMENT
        mapped = min(_pages(min(nbytes, hole.size), page), hole.size)
        if self.limit_bytes is not None and self.reserved + mapped > self.limit_bytes:
            return None
        self.reserved += mapped
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        holes = self._unmapped[hole.small]
        del holes[bisect_left(holes, (hole.address,))]
        if mapped < hole.size:
            rest = self._cut(hole, mapped)
            rest.mapped = False
            insort(holes, (rest.address, rest))
        hole.mapped = True
        before = hole.previous
        grown = before is not None and before.free
        self.allocated += hole.size  # release() counts it off again
        self.release(hole)
        return before if grown else hole

    def _release_cached(self) -> None:
        """Unmap every whole page inside a free block."""
        for small, pool in self.pools.items():
            page = SMALL_SEGMENT if small else LARGE_SEGMENT
            for _, _, block in list(pool):
                start = _pages(block.address, page)
                end = (block.address + block.size) // page * page
                if start < end:
                    self._unmap(block, start, end)

    def _unmap(self, block: Block, start: int, end: int) -> None:
        pool = self.pools[block.small]
        del pool[bisect_left(pool, (block.size, block.address))]
        self.reserved -= end - start
        if end < block.address + block.size:
            after = self._cut(block, end - block.address)
            after.free = True
            insort(pool, (after.size, after.address, after))
        hole = block
        if start > block.address:
            hole = self._cut(block, start - block.address)
            insort(pool, (block.size, block.address, block))
        hole.free = hole.mapped = False
        self._join_holes(hole)

    def _join_holes(self, hole: Block) -> None:
        holes = self._unmapped[hole.small]
        following = hole.next
        if following is not None and not following.mapped:
            del holes[bisect_left(holes, (following.address,))]
            hole.size += following.size
            hole.next = following.next
            if following.next is not None:
                following.next.previous = hole
        before = hole.previous
        if before is not None and not before.mapped:
            before.size += hole.size
            before.next = hole.next
            if hole.next is not None:
                hole.next.previous = before
        else:
            insort(holes, (hole.address, hole))

    @staticmethod
    def _cut(block: Block, size: int) -> Block:
        """Split the end off ``block``, as a block that stands in no list yet."""
        rest = Block(block.size - size, block.address + size, block.small)
        rest.previous = block
        rest.next = following = block.next
        if following is not None:
            following.previous = rest
        block.next = rest
        block.size = size
        return rest


def _pages(nbytes: int, page: int) -> int:
    return -(-nbytes // page) * page


def _potential(block: Block) -> int:
    following = block.next
    return block.size + (following.size if following is not None and not following.mapped else 0)
