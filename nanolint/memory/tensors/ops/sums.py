"""The scratch memory of reductions: how CUDA splits one over its blocks.

aten/src/ATen/native/cuda/Reduce.cuh (PyTorch 2.2 to 2.15), ``setReduceConfig`` and
``global_memory_size``: several blocks work on one result where there are enough elements for each,
and meet in global memory.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.memory.tensors.dtypes import UINT8
from nanolint.memory.tensors.tensor import empty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.memory.tensors.asked import Card
    from nanolint.memory.tensors.layout import Shape, Strides
    from nanolint.memory.tensors.tensor import Tensor

THREADS = 512  # of a block, at most; shared by the columns that one thread sums at once
VECTOR = 4  # elements that one thread loads at once, where they lie so
WARP = 32
LEAST_VALUES, MOST_VALUES = 16, 256  # per thread
VECTORIZED = 128  # elements of a row, from which on it is loaded in vectors


def reduction(
    x: Tensor, dims: Sequence[int], label: str = "partial results", *, accumulator: int = 4
) -> None:
    """What the kernel that reduces ``dims`` of ``x`` holds while it runs.

    ``accumulator`` is the size in bytes of what a thread carries along.
    """
    device = x.device
    if device.tracer is not None:
        return
    sizes = device.asked.ask(scratch_bytes, x.shape, x.strides, tuple(dims), accumulator)
    held = [empty(device, (size,), UINT8, x.role.made(label)) for size in sizes if size]
    while held:
        held.pop()


@lru_cache(maxsize=4096)
def scratch_bytes(
    card: Card, shape: Shape, strides: Strides, dims: tuple[int, ...], accumulator: int
) -> tuple[int, int]:
    """Bytes of the buffer and of the semaphores; 0 for none."""
    over = _merged(shape, strides, [dim for dim in range(len(shape)) if dim in dims])
    kept = _merged(shape, strides, [dim for dim in range(len(shape)) if dim not in dims])
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


def _merged(shape: Shape, strides: Strides, dims: Sequence[int]) -> list[tuple[int, int]]:
    """(stride, size) of dimensions, the fastest first; those that lie together are one."""
    found: list[tuple[int, int]] = []
    for stride, size in sorted((strides[dim], shape[dim]) for dim in dims if shape[dim] != 1):
        if found and found[-1][0] * found[-1][1] == stride:
            found[-1] = found[-1][0], found[-1][1] * size
        else:
            found.append((stride, size))
    return found


def _others(over: list[tuple[int, int]], kept: list[tuple[int, int]]) -> list[int]:
    return [stride for stride, _ in (*over, *kept[1:])]


def _product(dims: list[tuple[int, int]]) -> int:
    found = 1
    for _, size in dims:
        found *= size
    return found


def _power(number: int, most: int) -> int:
    """The largest power of two up to ``number``, and at most ``most``."""
    return most if number >= most else 1 << (max(1, number).bit_length() - 1)
