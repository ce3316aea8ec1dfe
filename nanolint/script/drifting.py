"""Turns alike of which the allocator reserves more, one by one.

If a turn frees what the one before made, as an evaluation with gradients lets go of a whole
graph, each may find its blocks in other places. Most settle at the second turn, a few much later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tape.allocator.caching import CachingAllocator
from nanolint.tape.symbolic import NotSymbolic, is_symbolic

if TYPE_CHECKING:
    from nanolint.tape.tape import Mark, Tape

LARGE = 1 << 20  # bytes that a turn frees of those before
MOST = 64  # turns that are tried


def turns_that_reserve(tape: Tape, start: Mark, most: int) -> int:
    """Returns how many turns like the last one, which began at ``start``, have to follow until none
    reserves more. Raises NotSymbolic if sizes of them are formulas."""
    turn, first = tape.events[start.events :], start.allocations
    made = len(tape.sizes) - first
    freed = [~each for each in turn if each < 0 and ~each < first]
    if not made or sum(tape.sizes[each] for each in freed) <= LARGE:
        return 0
    if any(map(is_symbolic, tape.sizes)):
        raise NotSymbolic("what turns reserve follows from their sizes")
    if min(freed) < first - made:  # older than the turn before: no other turn frees it again
        return 0
    allocator, blocks, needed = CachingAllocator(None), list[Any](), 0

    def play(event: int) -> None:
        if event >= 0:
            blocks.append(allocator.malloc(tape.sizes[event]))
        else:
            allocator.release(blocks[~event])

    for event in tape.events:
        play(event)
    for number in range(1, min(most, MOST) + 1):
        before, offset = allocator.peak_reserved, number * made
        for event in turn:
            if event >= 0:
                play(event)
            else:
                allocator.release(blocks[~event + offset])
        if allocator.peak_reserved > before:
            needed = number
    return needed
