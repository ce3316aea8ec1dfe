"""The numbers that are likely to be typed in the place of one, with what stands there meanwhile."""

from __future__ import annotations

from itertools import chain
from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 128  # micro-batches that are likely, beside powers of two
POWERS = range(21)
NEAR = 8  # goals of which each is typed digit by digit


def micro_batches(value: int) -> list[int]:
    """The first digits of those that people choose, the nearest first, then these themselves, and
    what one keystroke makes of a number.

    >>> micro_batches(12)[:10]
    [1, 8, 6, 2, 3, 4, 16, 24, 32, 48]
    """
    first = [int(str(goal)[0]) for goal in _goals(value)]
    typed = [*range(1, 10), *range(10 * value, 10 * value + 10)]
    small = (each for each in typed if each <= MOST)
    powers = (2**power for power in POWERS[:10])
    return _but(value, chain(taken_away(value), first, sizes(value), small, powers))


def other_micro_batches(value: int) -> list[int]:
    """All others of some size, the nearest first."""
    others = sorted(range(1, MOST + 1), key=lambda other: abs(other - value))
    known = {value, *micro_batches(value)}
    return [each for each in others if each not in known]


def sizes(value: int) -> list[int]:
    """What is left of a number while it is taken away, and others while they are typed.

    >>> sizes(1024)[:10]
    [102, 10, 1, 5, 51, 512, 2, 20, 204, 2048]
    """
    typed = [int(str(goal)[: end + 1]) for goal in _goals(value) for end in range(len(str(goal)))]
    return _but(value, chain(taken_away(value), typed))


def counts(value: int) -> list[int]:
    """Numbers of steps: what is left of one, and some that are small enough to decide something."""
    return _but(value, chain(taken_away(value), (1, 2, 5)))


def another_digit(digit: int) -> list[int]:
    """What stands for a fraction while it is typed or taken away, from the first digit of one: the
    ``1`` of ``1e-4`` is a whole number, which is another script.

    >>> another_digit(1)
    [1, 0, 3, 6]
    """
    return list(dict.fromkeys((digit, 0, 1, 3, 6)))


def taken_away(value: int) -> list[int]:
    """What is left of a number while it is taken away."""
    return [value // 10**digits for digits in range(1, len(str(value)))]


def _goals(value: int) -> list[int]:
    """Powers of two and three times these, the nearest first; from a power of two to others.

    >>> _goals(1024)[:5], _goals(6)[:6]
    ([512, 2048, 256, 4096, 768], [8, 4, 3, 12, 16, 2])
    """
    powers = [2**power for power in POWERS]
    thrice = [3 * power for power in powers]
    further = 2.0 if value in powers else 0.0

    def distance(goal: int) -> float:
        return abs(log2(goal / value)) + (further if goal in thrice else 0.0)

    others = [goal for goal in (*powers, *thrice) if goal != value] if value else []
    return sorted(others, key=distance)[:NEAR]


def _but(value: int, others: Iterable[int]) -> list[int]:
    """Each of the others once; no number is 0."""
    return [each for each in dict.fromkeys(others) if each not in (0, value)]
