"""The pretend allocator: PyTorch's rounding, pools, splits, merges, retry and growing segments."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from nanolint.tape.allocator.caching import (
    MIB,
    Block,
    CachingAllocator,
    ExpandableAllocator,
    Full,
    segment_bytes,
)
from nanolint.tape.allocator.play import play
from nanolint.tape.tape import Component, Phase, Tape


@pytest.mark.parametrize(
    ("request_bytes", "segment"),
    [
        (512, 2 * MIB),
        (MIB, 2 * MIB),
        (MIB + 512, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (10 * MIB + 512, 12 * MIB),
    ],
)
def test_a_request_asks_the_card_for_its_segment(request_bytes: int, segment: int) -> None:
    assert segment_bytes(request_bytes) == segment


def test_the_smallest_free_block_that_holds_a_request_is_taken() -> None:
    allocator = CachingAllocator()
    blocks = [allocator.malloc(size * MIB) for size in (30, 40, 20)]
    for block in blocks:
        allocator.release(block)
    assert allocator.malloc(18 * MIB) is blocks[2]
    assert allocator.reserved == 90 * MIB


@pytest.mark.parametrize(("oldest_first", "taken"), [(False, 0), (True, 10)])
def test_of_equally_large_blocks_the_lowest_or_the_oldest_is_taken(
    oldest_first: bool, taken: int
) -> None:
    """What is cut off a block is a new object, the rest keeps the old one, as in torch 2.12.1."""
    allocator = CachingAllocator(oldest_first=oldest_first)
    first, _, old, _ = (allocator.malloc(size * MIB) for size in (8, 2, 4, 6))
    allocator.release(first)
    young, _ = allocator.malloc(4 * MIB), allocator.malloc(4 * MIB)
    allocator.release(old)
    allocator.release(young)
    assert (young.address // MIB, old.address // MIB) == (0, 10)
    assert allocator.malloc(4 * MIB).address // MIB == taken


def test_a_large_rest_of_at_most_one_mib_is_not_split_off() -> None:
    allocator = CachingAllocator()
    allocator.malloc(11 * MIB)
    assert allocator.allocated == 12 * MIB
    allocator.malloc(13 * MIB + 512)
    assert allocator.allocated == 26 * MIB


def test_neighbours_merge_when_released() -> None:
    allocator = CachingAllocator()
    first, second, third = (allocator.malloc(6 * MIB) for _ in range(3))
    for block in (first, third, second):
        allocator.release(block)
    assert allocator.malloc(20 * MIB).address == first.address
    assert allocator.reserved == 20 * MIB


def test_a_full_card_gets_cached_segments_back_and_is_asked_once_more() -> None:
    allocator = CachingAllocator(limit_bytes=50 * MIB)
    allocator.release(allocator.malloc(40 * MIB))
    allocator.malloc(44 * MIB)
    assert (allocator.reserved, allocator.retries) == (44 * MIB, 1)
    with pytest.raises(Full):
        allocator.malloc(12 * MIB)


@pytest.mark.parametrize("kind", [CachingAllocator, ExpandableAllocator])
def test_a_card_can_be_filled_to_its_last_byte(kind: type[CachingAllocator]) -> None:
    allocator = kind(limit_bytes=60 * MIB)
    block = allocator.malloc(40 * MIB)
    allocator.malloc(20 * MIB)
    assert (allocator.reserved, allocator.retries) == (60 * MIB, 0)
    allocator.release(block)
    allocator.malloc(512)
    assert allocator.retries == 1
    allocator = kind(limit_bytes=60 * MIB)
    allocator.release(allocator.malloc(20 * MIB))
    allocator.malloc(60 * MIB)
    assert allocator.reserved == allocator.peak_reserved == 60 * MIB


def tape_of(*steps: tuple[str, int]) -> Tape:
    tape = Tape()
    tape.phase(Phase.FORWARD)
    for action, value in steps:
        if action == "alloc":
            tape.alloc(value, "tensor", Component.ACTIVATIONS)
        else:
            tape.free(value)
    return tape


def test_expandable_segments_fit_where_whole_segments_do_not() -> None:
    tape = tape_of(("alloc", 100 * MIB), ("free", 0), ("alloc", 60 * MIB), ("alloc", 60 * MIB))
    assert play(tape, limit_bytes=130 * MIB).refusal is not None
    assert play(tape).peak_reserved_bytes == 160 * MIB
    playback = play(tape, limit_bytes=130 * MIB, expandable=True)
    assert playback.refusal is None
    assert playback.peak_reserved_bytes == 120 * MIB


def test_a_refusal_tells_what_pytorch_would() -> None:
    tape = tape_of(("alloc", 40 * MIB), ("alloc", 6 * MIB), ("alloc", 31 * MIB))
    refusal = play(tape, limit_bytes=80 * MIB).refusal
    assert refusal is not None
    assert refusal.requested_bytes == 32 * MIB
    assert refusal.allocated_bytes == 46 * MIB
    assert refusal.reserved_bytes == 60 * MIB
    assert refusal.event == 2


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", [CachingAllocator, ExpandableAllocator])
def test_blocks_never_overlap_and_everything_merges_back(
    kind: type[CachingAllocator], seed: int
) -> None:
    rng = random.Random(seed)
    allocator = kind(limit_bytes=(None, 150 * MIB, 300 * MIB)[seed % 3])
    live: list[Block] = []
    for _ in range(400):
        if live and rng.random() < 0.45:
            allocator.release(live.pop(rng.randrange(len(live))))
            continue
        size = 512 * rng.choice((1, 7, 2000, 2048, 2049, 9000, 20480, 100_001))
        try:
            live.append(allocator.malloc(size))
        except Full:
            assert allocator.retries
        for small in (False, True):
            spans = sorted((b.address, b.address + b.size) for b in live if b.small is small)
            assert all(end <= start for (_, end), (start, _) in pairwise(spans))
        assert allocator.allocated == sum(block.size for block in live)
        free = sum(size for pool in allocator.pools.values() for size, _, _ in pool)
        assert allocator.allocated + free == allocator.reserved <= allocator.peak_reserved
    assert bool(allocator.retries) is bool(seed % 3)
    for block in live:
        allocator.release(block)
    assert allocator.allocated == 0
    assert sum(size for pool in allocator.pools.values() for size, _, _ in pool) == (
        allocator.reserved
    )


@pytest.mark.parametrize("seed", range(10))
def test_expandable_pools_hold_only_whole_pages(seed: int) -> None:
    rng = random.Random(seed)
    allocator = ExpandableAllocator(limit_bytes=900 * MIB)
    live: list[Block] = []
    for _ in range(300):
        if live and rng.random() < 0.5:
            allocator.release(live.pop(rng.randrange(len(live))))
        else:
            try:
                live.append(allocator.malloc(512 * rng.randrange(1, 200_000)))
            except Full:
                live.clear() if not live else allocator.release(live.pop())
        assert allocator.reserved % (2 * MIB) == 0
        assert allocator.reserved <= 900 * MIB
