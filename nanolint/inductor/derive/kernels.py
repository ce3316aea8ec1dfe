"""Results of lowering: kernels and library calls, and the memory that they read and write."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.access import Dependency, Memory
    from nanolint.tensors.ops.registry import Op


# What a kernel is, as far as the scheduler tells them apart.
LOOPS, SUMS, LIBRARY = range(3)


class Kernel:
    """One operation of the scheduler: loops over ``numel`` elements, or ``rnumel`` for each.

    ``name`` is Inductor's for what it writes, by which launches are ordered, as texts are.
    ``mutates`` is memory that it adds to. ``stays`` is whether it was to write to the memory that
    it reads, before its loops were turned around. ``elements`` are the results of a library call
    that returns several; ``product`` marks cuBLAS's.
    """

    __slots__ = (
        "after", "ahead", "elements", "kind", "mutates", "name", "number", "numel", "op",
        "original", "product", "reads", "rnumel", "scans", "scratch", "stays", "workspace",
        "writes",
    )  # fmt: skip

    def __init__(
        self,
        kind: int,
        reads: Sequence[Dependency],
        writes: Sequence[Dependency],
        numel: int,
        rnumel: int = 1,
        op: Op | None = None,
    ) -> None:
        self.kind = kind
        self.reads = tuple(dict.fromkeys(reads))
        self.writes = tuple(writes)
        self.numel = numel
        self.rnumel = rnumel
        self.op = op
        self.number = -1
        self.name = ""
        self.mutates: tuple[Memory, ...] = ()
        self.stays = False
        self.after: tuple[Kernel, ...] = ()  # what else it waits for
        self.elements: tuple[Memory, ...] = ()
        self.scratch: tuple[Memory, ...] = ()  # made and freed inside a call, each named twice
        self.ahead = 0  # how many of them are made before the results
        self.product = False
        self.original: tuple[int, int] | None = None  # (numel, rnumel) before it was split
        self.scans = False  # a sum up to each element: its result is of all of them
        self.workspace = 0  # bytes that it takes while it runs

    @property
    def made(self) -> int:
        """The elements of its result; of a sum, those that it goes through."""
        return self.numel * self.rnumel if self.scans else self.numel

    def sizes(self, *, merges: bool) -> tuple[int, ...]:
        """Of its loops, as far as what it writes tells them; ``merges`` is whether neighbouring
        ones are one if all that it reads and writes lies in order
        (torch/_inductor/sizevars.py, ``_simplify_loops``)."""
        return tuple(self._sizes(merges=merges)[0])

    def _sizes(self, *, merges: bool) -> tuple[list[int], list[int]]:
        """Those, and which of the loops that are not merged is the innermost of each."""
        if not self.writes or self.writes[0].tag:
            return [], []
        sizes = [size for size, _ in self.writes[0].loops]
        places = [*range(len(sizes))]
        if merges:
            known = [each.loops for each in (*self.reads, *self.writes) if not each.tag]
            for dim in range(len(sizes) - 1, 0, -1):
                if all(_goes_on(loops, dim) for loops in known):
                    sizes[dim - 1 : dim + 1] = [sizes[dim - 1] * sizes[dim]]
                    del places[dim - 1]
        return sizes, places

    def walks(
        self, *, merges: bool
    ) -> tuple[tuple[int, ...], list[tuple[Dependency, tuple[int, ...]]]]:
        """The sizes of its loops, and how far each of them leads in what it reads and writes, as
        far as that is known."""
        sizes, places = self._sizes(merges=merges)
        count = len(self.writes[0].loops) if places else 0
        found = []
        for each in (*self.reads, *self.writes):
            steps = each.steps(count)
            if steps is not None:
                found.append((each, tuple([steps[place] for place in places])))
        return tuple(sizes), found

    def __repr__(self) -> str:
        of = ", ".join(sorted({each.memory.name for each in self.reads}))
        to = ", ".join(each.memory.name for each in self.writes)
        return f"{self.op and self.op.aten}({of}) -> {to}"


def _goes_on(loops: tuple[tuple[int, int], ...], dim: int) -> bool:
    """Whether a loop goes on where the one inside of it has ended."""
    (_, outer), (size, inner) = (loops[at] if at < len(loops) else (1, 0) for at in (dim - 1, dim))
    return outer == size * inner
