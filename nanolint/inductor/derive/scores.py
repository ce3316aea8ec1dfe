"""Which of the pairs that may be launched as one is first: torch/_inductor/choices.py,
``FusionScore``."""

from __future__ import annotations

from functools import cmp_to_key
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Score(NamedTuple):
    """What launching two kernels as one is worth, as Inductor compares it."""

    saves: bool
    alike: bool
    nbytes: int
    near: int


def _compare(one: Score, other: Score) -> int:
    """Those alike first, unless what is saved differs by far."""
    if one.saves != other.saves:
        return 1 if one.saves else -1
    if max(one.nbytes, other.nbytes) > 16 * min(one.nbytes, other.nbytes):
        return 1 if one.nbytes > other.nbytes else -1
    first, second = one[1:], other[1:]
    return (first > second) - (first < second)


class Ranked:
    """The places of ``scores``, the best first, were their bytes others."""

    def __init__(self, scores: Sequence[Score]) -> None:
        self._scores = scores

    def __call__(self, nbytes: list[int]) -> list[int]:
        pairs = zip(self._scores, nbytes, strict=True)
        scores = [Score(one.saves, one.alike, each, one.near) for one, each in pairs]
        key = cmp_to_key(_compare)
        return sorted(range(len(scores)), key=lambda at: key(scores[at]), reverse=True)
