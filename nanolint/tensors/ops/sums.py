"""The scratch memory of reductions, sorts and scans, in bytes.

Of a reduction: how CUDA splits it over its blocks. Of sorts and scans: as PyTorch asks CUB for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nanolint.tensors.dtypes import UINT8
from nanolint.tensors.tensor import empty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.device import Card
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.tensor import Tensor

Dims: TypeAlias = "list[tuple[int, int]]"  # (stride, size) in elements

MOST_OFFSET = 1 << 31  # bytes from the first to the last element
MOST_PARTS = 256  # of a tensor of 512 GiB, which no card holds: more are not told apart
THREADS = 512  # of a block, at most; shared by the columns that one thread sums at once
VECTOR = 4  # elements that one thread loads at once, where they lie so
WARP = 32
LEAST_VALUES, MOST_VALUES = 16, 256  # per thread
VECTORIZED = 128  # elements of a row, from which on it is loaded in vectors


def reduction(
    x: Tensor,
    dims: Sequence[int],
    label: str = "partial results",
    *,
    accumulator: int | None = None,
) -> None:
    """Holds and frees the scratch memory of the kernel that reduces ``dims`` of ``x``.

    ``accumulator`` is the bytes of what a thread carries along: those of an element, but four for
    a half, unless it is given.
    """
    device = x.device
    if device.tracer is not None:
        return
    carried = max(4, x.dtype.itemsize) if accumulator is None else accumulator
    about = x.shape, x.strides, tuple(dims), x.dtype.itemsize, carried
    sizes = device.asked.ask(scratch_bytes, *about)
    for part in zip(sizes[::2], sizes[1::2], strict=True):
        held = [empty(device, (size,), UINT8, x.role.made(label)) for size in part if size]
        while held:
            held.pop()


def scratch_bytes(
    card: Card,
    shape: Shape,
    strides: Strides,
    dims: tuple[int, ...],
    itemsize: int,
    accumulator: int,
) -> tuple[int, ...]:
    """Bytes of the buffer and of the semaphores, 0 for none, of each part that is reduced by itself
    in turn: if offsets take more than 32 bits, the longest dimension is halved
    (aten/src/ATen/native/TensorIterator.cpp, ``SplitUntil32Bit``)."""
    over = _merged(shape, strides, [dim for dim in range(len(shape)) if dim in dims])
    kept = _merged(shape, strides, [dim for dim in range(len(shape)) if dim not in dims])
    parts = _parts(over, kept, itemsize)
    return tuple(size for part in parts for size in _of_part(card, *part, accumulator))


def _parts(over: Dims, kept: Dims, itemsize: int) -> list[tuple[Dims, Dims]]:
    every = [*over, *kept]
    reach = itemsize * sum(stride * (size - 1) for stride, size in every)
    if not MOST_OFFSET <= reach < MOST_PARTS * MOST_OFFSET:
        return [(over, kept)]
    at = max(range(len(every)), key=lambda at: every[at][0] * (every[at][1] - 1))
    stride, size = every[at]
    found = []
    for part in (size // 2, size - size // 2):
        halved = [*every[:at], (stride, part), *every[at + 1 :]]
        found += _parts(halved[: len(over)], halved[len(over) :], itemsize)
    return found


def _of_part(card: Card, over: Dims, kept: Dims, accumulator: int) -> tuple[int, int]:
    inputs, outputs = _product(over), _product(kept)
    if inputs * outputs == 0:
        return 0, 0
    along_rows = not kept or (bool(over) and over[0][0] < kept[0][0])
    vector = 1
    if along_rows:
        first, second = inputs, outputs
        in_order = not over or over[0][0] == 1
        if in_order and first > VECTORIZED and len(over) == 1 and not kept:
            first //= VECTOR
    else:
        first, second = outputs, inputs
        if kept[0][0] == 1:
            vector = VECTOR
            while any(number % vector for number in (kept[0][1], *_others(over, kept))):
                vector //= 2
            first //= vector
    most = THREADS // vector
    width = min(_power(first, most), WARP)
    height = min(_power(second, most), most // width)
    width = min(_power(first, most), most // height)
    values = -(-inputs // width) if along_rows else inputs
    blocks_wide = outputs // vector if along_rows else -(-(outputs // vector) // width)
    if values < min(16 * height, MOST_VALUES):
        return 0, 0
    values = -(-values // height)
    grid = blocks_wide
    wanted = card.multiprocessors * (card.threads // (width * height))
    if values < MOST_VALUES or grid > wanted:
        return 0, 0
    split = max(min(-(-wanted // grid), -(-values // LEAST_VALUES)), -(-values // MOST_VALUES))
    if split <= 1:
        return 0, 0
    each = 1 if along_rows else width * vector
    return accumulator * outputs * split * each, 4 * grid


def _merged(shape: Shape, strides: Strides, dims: Sequence[int]) -> Dims:
    """The fastest first; those that lie together are one."""
    found: Dims = []
    for stride, size in sorted((strides[dim], shape[dim]) for dim in dims if shape[dim] != 1):
        if found and found[-1][0] * found[-1][1] == stride:
            found[-1] = found[-1][0], found[-1][1] * size
        else:
            found.append((stride, size))
    return found


def _others(over: Dims, kept: Dims) -> list[int]:
    return [stride for stride, _ in (*over, *kept[1:])]


def _product(dims: Dims) -> int:
    found = 1
    for _, size in dims:
        found *= size
    return found


def _power(number: int, most: int) -> int:
    """The largest power of two up to ``number``, and at most ``most``."""
    return most if number >= most else 1 << (max(1, number).bit_length() - 1)


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
