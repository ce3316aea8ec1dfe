"""What lowering makes: kernels and library calls, and the memory that they read and write."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.memory.compiled.derive.access import Dependency
    from nanolint.memory.compiled.derive.buffers import Memory


# What a kernel is, as far as the scheduler tells them apart.
LOOPS, SUMS, LIBRARY = range(3)


class Kernel:
    """One operation of the scheduler: loops over ``numel`` elements, or ``rnumel`` for each.

    ``name`` is Inductor's for what it writes, by which launches are ordered, as texts are.
    ``mutates`` is memory that it adds to. ``elements`` are the results of a library call that
    returns several; ``product`` marks cuBLAS's.
    """

    __slots__ = (
        "after",
        "ahead",
        "elements",
        "kind",
        "mutates",
        "name",
        "number",
        "numel",
        "original",
        "product",
        "reads",
        "rnumel",
        "scratch",
        "what",
        "writes",
    )  # fmt: skip

    def __init__(
        self,
        kind: int,
        reads: Sequence[Dependency],
        writes: Sequence[Dependency],
        numel: int,
        rnumel: int = 1,
        what: str = "",
    ) -> None:
        self.kind = kind
        self.reads = tuple(dict.fromkeys(reads))
        self.writes = tuple(writes)
        self.numel = numel
        self.rnumel = rnumel
        self.what = what
        self.number = -1
        self.name = ""
        self.mutates: tuple[Memory, ...] = ()
        self.after: tuple[Kernel, ...] = ()  # what else it waits for
        self.elements: tuple[Memory, ...] = ()
        self.scratch: tuple[Memory, ...] = ()  # made and freed inside a call, each named twice
        self.ahead = 0  # how many of them are made before the results
        self.product = False
        self.original: tuple[int, int] | None = None  # (numel, rnumel) before it was split

    def __repr__(self) -> str:
        of = ", ".join(sorted({each.memory.name for each in self.reads}))
        to = ", ".join(each.memory.name for each in self.writes)
        return f"{self.what}({of}) -> {to}"
