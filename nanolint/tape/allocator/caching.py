"""A pretend CUDA caching allocator that plays a tape (c10/cuda/CUDACachingAllocator.cpp).

A pretend CUDA caching allocator that plays a Tape (c10/cuda/CUDACachingAllocator.cpp).

Requests up to 1 MiB come from the small pool, larger ones from the large pool. A request takes the
smallest free block that holds it (the lowest address among equals, or the oldest) and splits off
the rest; with none, a new segment is cut from the card. Released blocks merge with free neighbours
of their segment. When the card is full, segments that are wholly free go back to it and the request
is tried once more. One stream; addresses only order blocks.

The caching allocator with expandable_segments:True: one growing segment per pool.

A segment is a range of addresses, mapped page by page (2 MiB small, 20 MiB large): a free block at
its mapped end grows instead of leaving a hole. Blocks that are not mapped stand in the segment's
list, so that a hole left by a release can be mapped again.
"""

from __future__ import annotations

from bisect import bisect_left, insort

from nanolint.tape.tape import ROUNDING

MIB = 1 << 20
SMALL_REQUEST = MIB  # kSmallSize: at most so large is small; a larger rest is split off
SMALL_SEGMENT = 2 * MIB  # kSmallBuffer
LARGE_SEGMENT = 20 * MIB  # kLargeBuffer: the segment of requests below MIN_LARGE
MIN_LARGE = 10 * MIB  # kMinLargeAlloc
LARGE_ROUNDING = 2 * MIB  # kRoundLarge


class Full(Exception):
    """No segment of ``nbytes`` bytes is left on the card."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


class Block:
    """A piece of a segment; neighbours are those of the same segment.

    ``rank`` orders free blocks of one size: their address, or the number of PyTorch's own object.
    """

    __slots__ = ("address", "free", "mapped", "next", "previous", "rank", "size", "small")

    def __init__(self, size: int, address: int, small: bool) -> None:
        self.size = size
        self.address = self.rank = address
        self.small = small
        self.free = False
        self.mapped = True  # always, outside expandable segments
        self.previous: Block | None = None
        self.next: Block | None = None


class CachingAllocator:
    """The allocator with its default settings. ``oldest_first``: see ``nanolint.tape.torch``."""

    def __init__(self, limit_bytes: int | None = None, *, oldest_first: bool = False) -> None:
        self.limit_bytes = limit_bytes
        self.oldest_first = oldest_first
        self._made = 0  # of PyTorch's objects for blocks
        self.reserved = self.peak_reserved = 0
        # As memory_allocated() counts: with the rest that was too small to split off.
        self.allocated = 0
        self.retries = 0
        # Free blocks by pool (False: large, True: small), sorted by size, then rank.
        self.pools: dict[bool, list[tuple[int, int, Block]]] = {False: [], True: []}
        self.end = 0  # the next segment's address

    def malloc(self, size: int) -> Block:
        """A block of ``size`` bytes, itself a multiple of 512."""
        small = size <= SMALL_REQUEST
        pool = self.pools[small]
        at = bisect_left(pool, (size,))
        block = pool.pop(at)[2] if at < len(pool) else self._segment(size, small)
        block.free = False
        rest = block.size - size
        if rest >= ROUNDING if small else rest > SMALL_REQUEST:
            self._split(block, size, rest)
        self.allocated += block.size
        return block

    def release(self, block: Block) -> None:
        """Take ``block`` back and merge it with its free neighbours."""
        self.allocated -= block.size
        pool = self.pools[block.small]
        rank = block.rank
        neighbour = block.previous
        if neighbour is not None and neighbour.free:
            del pool[bisect_left(pool, (neighbour.size, neighbour.rank))]
            neighbour.size += block.size
            neighbour.next = following = block.next
            if following is not None:
                following.previous = neighbour
            block = neighbour
        neighbour = block.next
        if neighbour is not None and neighbour.free:
            del pool[bisect_left(pool, (neighbour.size, neighbour.rank))]
            block.size += neighbour.size
            block.next = following = neighbour.next
            if following is not None:
                following.previous = block
        block.free = True
        if self.oldest_first:  # the released object takes its neighbours in
            block.rank = rank
        insort(pool, (block.size, block.rank, block))

    def _split(self, block: Block, size: int, rest: int) -> None:
        remaining = Block(rest, block.address + size, block.small)
        remaining.free = True
        remaining.previous = block
        remaining.next = following = block.next
        if following is not None:
            following.previous = remaining
        block.next = remaining
        block.size = size
        if self.oldest_first:  # what is taken is a new object, the rest keeps the old one
            remaining.rank, block.rank = block.rank, self._number()
        insort(self.pools[block.small], (rest, remaining.rank, remaining))

    def _segment(self, size: int, small: bool) -> Block:
        nbytes = segment_bytes(size)
        self._reserve(nbytes)
        block = Block(nbytes, self.end, small)
        self.end += nbytes
        if self.oldest_first:
            block.rank = self._number()
        return block

    def _number(self) -> int:
        self._made += 1
        return self._made

    def _reserve(self, nbytes: int) -> None:
        limit = self.limit_bytes
        if limit is not None and self.reserved + nbytes > limit:
            self.retries += 1
            self._release_cached()
            if self.reserved + nbytes > limit:
                raise Full(nbytes)
        self.reserved += nbytes
        self.peak_reserved = max(self.peak_reserved, self.reserved)

    def _release_cached(self) -> None:
        """Give back the segments that are one free block."""
        for small, pool in self.pools.items():
            kept = []
            for entry in pool:
                block = entry[2]
                if block.previous is None and block.next is None:
                    self.reserved -= block.size
                else:
                    kept.append(entry)
            self.pools[small] = kept


def segment_bytes(size: int) -> int:
    """The segment that a request of ``size`` bytes asks the card for."""
    if size <= SMALL_REQUEST:
        return SMALL_SEGMENT
    if size < MIN_LARGE:
        return LARGE_SEGMENT
    return -(-size // LARGE_ROUNDING) * LARGE_ROUNDING


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
