"""The scratch memory of a sum over rows: how CUDA splits the gradient of a bias over its blocks.

aten/src/ATen/native/cuda/Reduce.cuh (PyTorch 2.2 to 2.15), ``setReduceConfig`` and
``global_memory_size``, for a matrix whose columns lie side by side: several blocks sum each column
where there are enough rows, and meet in global memory.
"""

from __future__ import annotations

THREADS = 512  # of a block, at most; shared by the columns that one thread sums at once
COLUMNS = 4  # that one thread sums at once, where they divide the width
WARP = 32
LEAST_VALUES, MOST_VALUES = 16, 256  # per thread


def sum_scratch_bytes(rows: int, columns: int, resident_threads: int) -> tuple[int, int]:
    """Bytes of the buffer and of the semaphores that summing (rows, columns) takes; 0 for none.

    ``resident_threads`` are those that the whole card holds at once.
    """
    vector = COLUMNS
    while columns % vector:
        vector //= 2
    most = THREADS // vector
    width = min(_power(columns // vector, most), WARP)
    height = min(_power(rows, most), most // width)
    width = min(_power(columns // vector, most), most // height)
    if rows < height * LEAST_VALUES and rows < MOST_VALUES:
        return 0, 0
    values, grid = -(-rows // height), -(-(columns // vector) // width)
    blocks = resident_threads // (width * height)
    if values < MOST_VALUES or grid > blocks:
        return 0, 0
    split = max(min(-(-blocks // grid), -(-values // LEAST_VALUES)), -(-values // MOST_VALUES))
    return (4 * columns * split * width * vector, 4 * grid) if split > 1 else (0, 0)


def _power(number: int, most: int) -> int:
    """The largest power of two up to ``number``, and at most ``most``."""
    return most if number >= most else 1 << (number.bit_length() - 1)
