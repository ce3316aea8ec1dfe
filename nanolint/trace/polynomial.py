"""Sizes at a few micro-batches as a polynomial of the micro-batch."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from nanolint.tape.tape import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence


def polynomial(batches: Sequence[int], sizes: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """Divisor and coefficients of the polynomial of the least degree through all sizes.

    A line is good enough within a block of the allocator: some kernels round their scratch down.
    """
    if len(set(sizes)) == 1:
        return 1, (sizes[0],)
    ends = _through((batches[0], batches[-1]), (sizes[0], sizes[-1]))
    off = (abs(_value(ends, batch) - size) for batch, size in zip(batches, sizes, strict=True))
    found = ends if max(off) < ROUNDING else _through(batches, sizes)
    divisor = lcm(*(each.denominator for each in found))
    return divisor, tuple(int(each * divisor) for each in found)


def _through(batches: Sequence[int], sizes: Sequence[int]) -> list[Fraction]:
    """Coefficients of the polynomial through two or three points (Newton's differences)."""
    first, second = batches[:2]
    slope = Fraction(sizes[1] - sizes[0], second - first)
    line = [sizes[0] - slope * first, slope]
    if len(batches) == len(line):
        return line
    third = batches[2]
    bend = (sizes[2] - _value(line, third)) / ((third - first) * (third - second))
    return [line[0] + bend * first * second, slope - bend * (first + second), bend]


def _value(coefficients: Sequence[Fraction], batch: int) -> Fraction:
    return sum((each * batch**power for power, each in enumerate(coefficients)), Fraction(0))
