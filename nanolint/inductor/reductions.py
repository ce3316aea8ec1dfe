"""How Inductor splits the sums over all tokens (LayerNorm's and the biases' gradients).

They decide only small buffers: partial sums in float32. Facts from torch/_inductor/choices.py
``reduction_split_factor``, ir.py ``Reduction.num_splits``, scheduler.py ``MixOrderReduction`` and
codegen/simd.py, all of 2.13.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.tensors.asked import Card

ROWS_PER_THREAD = 4
SPLIT_THREADS = 256
COLUMNS_PER_BLOCK = 128
MOST_SPLIT_ROWS = 512
FEWEST_SPLIT_ROWS = 32


def column_sum_splits(card: Card, rows: int, columns: int, threads_per_sm: int | None) -> int:
    """Partial sums per column when a (rows, columns) matrix is summed over its rows.

    ``threads_per_sm`` are those that the release takes for any card's, if it does.
    """
    sm_count = card.multiprocessors
    if rows <= FEWEST_SPLIT_ROWS or columns >= 64 * sm_count:
        return 1
    threads = sm_count * (threads_per_sm or card.threads)
    elements = rows * columns
    if elements < FEWEST_SPLIT_ROWS * threads:
        size = FEWEST_SPLIT_ROWS
    elif elements < MOST_SPLIT_ROWS * threads:
        blocks = _ceil(threads // SPLIT_THREADS, _ceil(columns, COLUMNS_PER_BLOCK))
        size = _ceil(rows, ROWS_PER_THREAD * blocks)
        even = _nearest_divisor(rows, size)
        if abs(size - even) < 20:
            size = max(even, FEWEST_SPLIT_ROWS)
    else:
        even = _nearest_divisor(rows, MOST_SPLIT_ROWS)
        size = even if abs(even - MOST_SPLIT_ROWS) < 50 else MOST_SPLIT_ROWS
    return _ceil(rows, ROWS_PER_THREAD * size)


def fused_sum_splits(card: Card, rows: int) -> int:
    """Partial sums per column when the row and the column sums share one kernel (codegen/simd.py,
    ``_codegen_mix_order_reduction``)."""
    share = rows // (card.multiprocessors * 8)
    size = 1 << (share.bit_length() - 1) if share else 0
    return _ceil(rows, min(max(size, 16), 128))


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _nearest_divisor(number: int, target: int) -> int:
    for distance in range(number):
        for candidate in (target - distance, target + distance):
            if candidate > 0 and number % candidate == 0:
                return candidate
    return 1
