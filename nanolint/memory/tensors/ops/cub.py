"""The scratch memory of CUB's sorts and scans, in bytes, as PyTorch 2.13 asks for it (CUDA 13).

cub/device/dispatch/dispatch_radix_sort.cuh, dispatch_unique_by_key.cuh, dispatch_scan.cuh. Keys and
values are int64. Sizes of tiles are those of the policies for such items; every part is aligned.
"""

from __future__ import annotations

ALIGNMENT = 256
SINGLE_TILE = 2304  # items that one block sorts by itself
SORT_TILE, UNIQUE_TILE, SCAN_TILE = 3840, 1280, 896
RADIX_BITS = 8
BINS_BYTES = (1 << RADIX_BITS) * 8  # counts of a pass
LOOKBACK_BYTES = (1 << RADIX_BITS) * 4  # of a tile
TILE_STATE_BYTES, TILE_PADDING = 16, 32
ITEM_BYTES = 8


def radix_sort_bytes(count: int, highest: int) -> int:
    """For sorting ``count`` pairs whose keys are below ``highest``."""
    if count <= SINGLE_TILE:
        return 1
    passes = max(1, -(-max(1, highest).bit_length() // RADIX_BITS))
    buffers = 2 * _aligned(ITEM_BYTES * count) if passes > 1 else 0
    tiles = -(-count // SORT_TILE)
    return buffers + tiles * LOOKBACK_BYTES + passes * BINS_BYTES + 2 * ALIGNMENT - 1


def unique_bytes(count: int) -> int:
    """For the first of each run of equal keys."""
    return _tiled(count, UNIQUE_TILE)


def scan_bytes(count: int, narrow: bool = False) -> int:
    """For a cumulative sum; ``narrow``: of float32, whose state fits into half as much."""
    return _tiled(count, SCAN_TILE, TILE_STATE_BYTES // 2 if narrow else TILE_STATE_BYTES)


def _tiled(count: int, tile: int, state: int = TILE_STATE_BYTES) -> int:
    states = state * (-(-count // tile) + TILE_PADDING)
    return _aligned(states) + 2 * ALIGNMENT - 1


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
