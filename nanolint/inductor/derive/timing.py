"""Matrix products that torch.compile times with and without padding: torch/_inductor/fx_passes/
pad_mm.py, which asks for each side of ``mm``, ``addmm`` and ``bmm`` whether it is aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.coverage import is_timed, of_timed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.inductor.derive.operations import Operation

TIMED = frozenset({"mm", "bmm", "addmm"})


def timed(operations: Iterable[Operation]) -> Iterator[str]:
    """A doubt for each size that is not aligned."""
    found: dict[int, None] = {}
    for each in operations:
        if each.name in TIMED:
            for factor in each.of[-2:]:
                sides = factor.shape[-2:]
                found |= {side: None for side in sides if is_timed(side, factor.dtype.itemsize)}
    return map(of_timed, found)
