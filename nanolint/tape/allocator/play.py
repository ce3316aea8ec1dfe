"""Play a tape on an allocator: what it reserves, and where it gives up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.tape.allocator.caching import CachingAllocator, Full
from nanolint.tape.allocator.expandable import ExpandableAllocator
from nanolint.tape.lasting import lasting
from nanolint.tape.turns import give_way

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
