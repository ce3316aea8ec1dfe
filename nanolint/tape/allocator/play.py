"""Play a tape on an allocator: what it reserves, where it gives up, where each tensor lies.

Where the allocator puts each tensor of a tape: addresses and segments, for a memory snapshot.
"""

from __future__ import annotations

from bisect import bisect_right
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from nanolint.tape.allocator.caching import CachingAllocator, ExpandableAllocator, Full
from nanolint.tape.lasting import lasting
from nanolint.tape.reading_lock import give_way

if TYPE_CHECKING:
    from nanolint.tape.allocator.caching import Block
    from nanolint.tape.tape import Tape


STEP = 1024  # events that are played in a few milliseconds


class Refusal(NamedTuple):
    """The allocation that failed even after cached segments were released."""

    event: int
    requested_bytes: int  # as PyTorch says it: the segment that it asked the card for
    allocated_bytes: int
    reserved_bytes: int


class Playback(NamedTuple):
    """What the allocator reserved while it played a tape."""

    peak_reserved_bytes: int
    refusal: Refusal | None
    reserved: tuple[int, ...]  # bytes after each event, when asked for
    reached_limit: bool = False  # else a card without end gives the same


@lasting(Playback, Refusal)
def play(
    tape: Tape,
    *,
    limit_bytes: int | None = None,
    expandable: bool = False,
    trace: bool = False,
    oldest_first: bool = False,
) -> Playback:
    """Play ``tape`` under a limit on reserved bytes, until its end or the first refusal."""
    allocator = (
        ExpandableAllocator(limit_bytes)
        if expandable
        else CachingAllocator(limit_bytes, oldest_first=oldest_first)
    )
    malloc, release, sizes = allocator.malloc, allocator.release, tape.sizes
    blocks: list[Block] = []
    reserved: list[int] = []
    refusal = None
    try:
        for start in range(0, len(tape.events), STEP):
            give_way()
            for event in tape.events[start : start + STEP]:
                if event >= 0:
                    blocks.append(malloc(sizes[event]))
                else:
                    release(blocks[~event])
                if trace:
                    reserved.append(allocator.reserved)
    except Full as full:
        number = tape.events.index(len(blocks))
        refusal = Refusal(number, full.nbytes, allocator.allocated, allocator.reserved)
    reached = allocator.retries > 0
    return Playback(allocator.peak_reserved, refusal, tuple(reserved), reached)


FIRST_ADDRESS = 1 << 46  # as the driver's look
POOL_ROOM = 1 << 44  # between the small and the large pool of expandable segments


class Placement(NamedTuple):
    """One action of the allocator, in PyTorch's words: alloc, free, segment_alloc, segment_free.

    ``event`` is the number of the tape's event that led to it, ``handle`` the allocation that it is
    about; None where a segment is given back. ``nbytes`` are those asked for, ``block_bytes`` those
    of the block, whose rest may have been too small to split off; of a segment both are its size.
    """

    action: str
    event: int
    handle: int | None
    address: int
    nbytes: int
    block_bytes: int


class Segment(NamedTuple):
    """What the allocator has from the card."""

    address: int
    nbytes: int


class Placements:
    """The actions of a whole tape, and the segments that are there at its end.

    ``failed`` is the number of the event that failed under the limit, None where all went well.
    """

    def __init__(
        self, tape: Tape, *, limit_bytes: int | None = None, expandable: bool = False
    ) -> None:
        self.actions: list[Placement] = []
        self.failed: int | None = None
        self.segments: list[Segment] = []
        self._live: list[int] = []  # tensors per segment
        self._allocator = (ExpandableAllocator if expandable else CachingAllocator)(limit_bytes)
        self._expandable = expandable
        self._blocks: list[Block] = []
        for event, handle in enumerate(tape.events):
            if handle < 0:
                self._free(event, ~handle, tape.sizes[~handle])
                continue
            try:
                self._alloc(event, handle, tape.sizes[handle])
            except Full:
                self.failed = event
                break
        if expandable:
            self.segments = self._mapped()

    def _alloc(self, event: int, handle: int, nbytes: int) -> None:
        allocator = self._allocator
        end, retries = allocator.end, allocator.retries
        try:
            block = allocator.malloc(nbytes)
        finally:
            if allocator.retries > retries and not self._expandable:
                self._give_back(event)
        if allocator.end > end:
            segment = Segment(FIRST_ADDRESS + end, allocator.end - end)
            self.segments.append(segment)
            self._live.append(0)
            self.actions.append(Placement("segment_alloc", event, handle, *segment, segment.nbytes))
        self._blocks.append(block)
        self._count(block, 1)
        address = self._address(block)
        self.actions.append(Placement("alloc", event, handle, address, nbytes, block.size))

    def _free(self, event: int, handle: int, nbytes: int) -> None:
        block = self._blocks[handle]
        self._count(block, -1)
        address = self._address(block)
        self.actions.append(Placement("free", event, handle, address, nbytes, block.size))
        self._allocator.release(block)

    def _give_back(self, event: int) -> None:
        """Before it gives up, the allocator returns the segments that hold nothing."""
        kept = [index for index, live in enumerate(self._live) if live]
        gone = [self.segments[index] for index, live in enumerate(self._live) if not live]
        self.actions += [
            Placement("segment_free", event, None, *segment, segment.nbytes) for segment in gone
        ]
        self.segments = [self.segments[index] for index in kept]
        self._live = [self._live[index] for index in kept]

    def _count(self, block: Block, change: int) -> None:
        if not self._expandable:
            at = bisect_right(self.segments, (self._address(block), inf)) - 1
            self._live[at] += change

    def _address(self, block: Block) -> int:
        pool = POOL_ROOM if self._expandable and not block.small else 0
        return FIRST_ADDRESS + pool + block.address

    def _mapped(self) -> list[Segment]:
        """Of expandable segments: one for each pool, up to the highest address in use."""
        ends: dict[int, int] = {}
        for block in self._blocks:
            start = self._address(block) - block.address
            ends[start] = max(ends.get(start, 0), self._address(block) + block.size)
        return [Segment(start, end - start) for start, end in sorted(ends.items())]
