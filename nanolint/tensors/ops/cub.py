"""The scratch memory of CUB's sorts and scans, in bytes, as PyTorch asks for it.

cub/device/dispatch/dispatch_radix_sort.cuh, dispatch_unique_by_key.cuh, dispatch_scan.cuh. Keys and
values are int64. Sizes of tiles are those of the policies for such items; every part is aligned.
"""

from __future__ import annotations

Capability = tuple[int, int]
Release = tuple[int, int]

ALIGNMENT = 256
SINGLE_TILE = 2304  # items that one block sorts by itself
SCAN_TILE = 896
# By the compute capability from which on they are so (tuning/tuning_unique_by_key.cuh: 5 x 64 items
# where nothing is tuned; 192 x 7; 448 x 11).
SORT_TILES = {(0, 0): 2816, (8, 0): 3840, (9, 0): 4608}
UNIQUE_TILES = {(0, 0): 320, (8, 0): 1344, (8, 6): 320, (9, 0): 4928}
UNIQUE_TILES_BEFORE = UNIQUE_TILES | {(8, 0): 1792}  # KNOWS_HIGHEST_SINCE
RADIX_BITS = 8
BINS_BYTES = (1 << RADIX_BITS) * 8  # counts of a pass
LOOKBACK_BYTES = (1 << RADIX_BITS) * 4  # of a tile
TILE_STATE_BYTES, TILE_PADDING = 16, 32
ITEM_BYTES = 8
# From here on an embedding's gradient is sorted by the bits that keys have, and what it counts is
# aligned twice (traced: 2.9, 2.10, 2.12, 2.13); what indexes and sums up rows was so before.
KNOWS_HIGHEST_SINCE, ALIGNS_TWICE_SINCE = (2, 13), (2, 12)
ALL_BITS = 1 << 63


def radix_sort_bytes(
    count: int,
    highest: int,
    capability: Capability,
    release: Release = KNOWS_HIGHEST_SINCE,
    *,
    pair_bytes: tuple[int, int] = (ITEM_BYTES, ITEM_BYTES),
) -> int:
    """For sorting ``count`` pairs whose keys are below ``highest``; ``pair_bytes`` are those of a
    key and of a value."""
    if count <= SINGLE_TILE:
        return 1
    highest = highest if release >= KNOWS_HIGHEST_SINCE else ALL_BITS
    passes = max(1, -(-max(1, highest).bit_length() // RADIX_BITS))
    buffers = sum(_aligned(each * count) for each in pair_bytes) if passes > 1 else 0
    tiles = -(-count // _tile(SORT_TILES, capability))
    return buffers + tiles * LOOKBACK_BYTES + passes * BINS_BYTES + 2 * ALIGNMENT - 1


def unique_bytes(count: int, capability: Capability, release: Release) -> int:
    """For the first of each run of equal keys."""
    tiles = UNIQUE_TILES if release >= KNOWS_HIGHEST_SINCE else UNIQUE_TILES_BEFORE
    return _tiled(count, _tile(tiles, capability), release)


def scan_bytes(count: int, release: Release = ALIGNS_TWICE_SINCE, *, narrow: bool = False) -> int:
    """For a cumulative sum; ``narrow``: of float32, whose state fits into half as much."""
    state = TILE_STATE_BYTES // 2 if narrow else TILE_STATE_BYTES
    return _tiled(count, SCAN_TILE, release, state)


def _tile(tiles: dict[Capability, int], capability: Capability) -> int:
    return tiles[max(since for since in tiles if since <= capability)]


def _tiled(count: int, tile: int, release: Release, state: int = TILE_STATE_BYTES) -> int:
    states = state * (-(-count // tile) + TILE_PADDING)
    parts = 2 if release >= ALIGNS_TWICE_SINCE else 1
    return _aligned(states) + parts * ALIGNMENT - 1


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
