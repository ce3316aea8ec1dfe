"""Into how many parts Inductor splits a sum (torch/_inductor/choices.py, 2.13.0)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.tensors.asked import Card

THREADS = 256
FEWEST, MOST = 32, 512  # elements a thread
FEWEST_OUTPUTS = 2  # sums a multiprocessor: more are not split


def inner_splits(
    card: Card, elements: int, outputs: int, threads_per_sm: int | None, whole: tuple[int, int]
) -> int:
    """Where the elements of a sum lie side by side; ``whole`` is what is not split, of few sums
    and of many; ``threads_per_sm`` are those that the release takes for any card's, if it does."""
    sm_count, threads_per_sm = card.multiprocessors, threads_per_sm or card.threads
    most = whole[outputs >= sm_count]
    if outputs >= FEWEST_OUTPUTS * sm_count or elements <= most:
        return 1
    work = elements * outputs
    if work <= FEWEST * sm_count * threads_per_sm:
        size = FEWEST
    elif work < MOST * sm_count * threads_per_sm:
        blocks = -(-(sm_count * threads_per_sm // (2 * THREADS)) // outputs)
        size = -(-elements // (THREADS * blocks))
        even = nearest_divisor(elements, size)
        if abs(even - size) < 30:
            size = max(even, FEWEST)
    else:
        even = nearest_divisor(elements, MOST)
        size = even if abs(even - MOST) < 50 else MOST
    return -(-elements // (size * THREADS))


def nearest_divisor(number: int, target: int) -> int:
    """The divisor of ``number`` that is nearest to ``target``, the smaller of two."""
    for distance in range(number):
        for candidate in (target - distance, target + distance):
            if candidate > 0 and number % candidate == 0:
                return candidate
    return 1
