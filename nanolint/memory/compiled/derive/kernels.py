"""What lowering makes: memory, and the kernels and library calls that write it."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.memory.compiled.derive.access import Dependency
    from nanolint.memory.compiled.derive.operations import Operation
    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.layout import Shape, Strides
    from nanolint.memory.tensors.role import Role


class Memory:
    """A buffer of a compiled graph, or an input of it."""

    __slots__ = (
        "dtype", "given", "kept", "name", "of", "part", "role", "shape", "storage", "strides",
    )  # fmt: skip

    def __init__(self, name: str, shape: Shape, strides: Strides, dtype: Dtype, role: Role) -> None:
        self.name = name
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.role = role
        self.given: Operation | None = None  # of an input: what hands it in
        self.kept = False  # handed out
        self.part = False  # one of several results of a library call
        self.storage = self  # of sums added to other memory: that
        self.of: Kernel | None = None

    def __repr__(self) -> str:
        return f"{self.name}{self.shape}{self.dtype.name}"

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def numel(self) -> int:
        """Elements of its storage, with gaps between them."""
        return (
            1
            + sum(
                (size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True)
            )
            if prod(self.shape)
            else 0
        )

    @property
    def nbytes(self) -> int:
        """Bytes of its storage."""
        return self.itemsize * self.numel


# What a kernel is, as far as the scheduler tells them apart.
LOOPS, SUMS, LIBRARY = range(3)


class Kernel:
    """One operation of the scheduler: loops over ``numel`` elements, or ``rnumel`` for each.

    ``mutates`` is memory that it adds to. ``elements`` are the results of a library call that
    returns several; ``product`` marks cuBLAS's.
    """

    __slots__ = (
        "after",
        "elements",
        "kind",
        "mutates",
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
        self.mutates: tuple[Memory, ...] = ()
        self.after: tuple[Kernel, ...] = ()  # what else it waits for
        self.elements: tuple[Memory, ...] = ()
        self.scratch: tuple[Memory, ...] = ()  # made and freed inside a call, each named twice
        self.product = False
        self.original: tuple[int, int] | None = None  # (numel, rnumel) before it was split

    def __repr__(self) -> str:
        of = ", ".join(sorted({each.memory.name for each in self.reads}))
        to = ", ".join(each.memory.name for each in self.writes)
        return f"{self.what}({of}) -> {to}"
