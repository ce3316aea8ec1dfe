"""Sums over rows and over columns of the same elements: ``MixOrderReduction`` in
torch/_inductor/scheduler.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.derive.groups import is_contiguous, is_split, reads_all
from nanolint.memory.compiled.derive.kernels import SUMS

if TYPE_CHECKING:
    from nanolint.memory.compiled.derive.groups import Group

MIXED_ELEMENTS = 5 << 20
MIXED_ROWS = 4096
MIXED_COLUMNS = 16384
MIXED_READS = 10


def are_mixed(one: Group, other: Group) -> bool:
    """Whether both go through the same elements, one by rows and one by columns, and there are so
    many that one kernel for both pays."""
    if not (one.sums and other.sums) or one.mixed or other.mixed:
        return False
    if one.ancestors & other.own or other.ancestors & one.own:
        return False
    loops, others = one.loops, other.loops
    if loops == others or loops != others[::-1]:
        return False
    common = [
        memory
        for memory in one.names & other.names
        if reads_all(one, memory) and reads_all(other, memory)
    ]
    if not common:
        return False
    if is_contiguous(one):
        rows, columns = one, other
    elif is_contiguous(other):
        rows, columns = other, one
    else:
        return False
    nrow, ncol = rows.loops
    if nrow * ncol < MIXED_ELEMENTS or nrow < 2 * ncol or nrow < MIXED_ROWS:
        return False
    if ncol > MIXED_COLUMNS or is_split(rows):
        return False
    return all(each.what.split()[0] == "sum" for each in columns.kernels if each.kind == SUMS)
