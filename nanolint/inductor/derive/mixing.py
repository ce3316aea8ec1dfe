"""Sums over rows and over columns of the same elements: ``MixOrderReduction`` in
torch/_inductor/scheduler.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.groups import is_contiguous, is_split, reads_all, steps_by_one
from nanolint.inductor.derive.kernels import SUMS

if TYPE_CHECKING:
    from nanolint.inductor.derive.groups import Group

MIXED_ELEMENTS = 5 << 20
MIXED_ROWS = 4096
MIXED_COLUMNS = 16384
MIXED_READS = 10
MIXED_SUMS = frozenset({"sum", "mean"})  # what divides a sum is another kernel's


def are_mixed(one: Group, other: Group, *, tall: bool) -> bool:
    """Whether both go through the same elements, one by rows and one by columns, and there are so
    many that one kernel for both pays; ``tall`` is whether that is of twice as many rows as columns
    alone."""
    if not (one.sums and other.sums) or one.mixed or other.mixed:
        return False
    if one.ancestors & other.own or other.ancestors & one.own:
        return False
    loops, others = one.loops, other.loops
    if loops != others[::-1] or (tall and loops == others):
        return False
    common = [
        memory
        for memory in one.names & other.names
        if reads_all(one, memory) and reads_all(other, memory)
    ]
    if loops == others:
        common = [each for each in common if steps_by_one(one, each) != steps_by_one(other, each)]
    if not common:
        return False
    if is_contiguous(one):
        rows, columns = one, other
    elif is_contiguous(other):
        rows, columns = other, one
    else:
        return False
    nrow, ncol = rows.loops
    if nrow * ncol < MIXED_ELEMENTS or nrow < MIXED_ROWS or (tall and nrow < 2 * ncol):
        return False
    if ncol > MIXED_COLUMNS or is_split(rows):
        return False
    sums = [each for each in columns.kernels if each.kind == SUMS]
    return all(each.what.split()[0] in MIXED_SUMS for each in sums)
