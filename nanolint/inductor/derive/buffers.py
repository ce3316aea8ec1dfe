"""Memory of a compiled graph while it is derived."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role


class Memory:
    """A buffer of a compiled graph, or an input of it."""

    __slots__ = (
        "_nbytes", "dependencies", "dtype", "inside", "kept", "name", "of", "part", "role", "shape",
        "storage", "strides",
    )  # fmt: skip

    def __init__(self, name: str, shape: Shape, strides: Strides, dtype: Dtype, role: Role) -> None:
        self.name = name
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.role = role
        self.kept = False  # handed out
        self.inside: Memory | None = None  # of a part that is written into a whole: that
        self.part = False  # one of several results of a library call
        self.storage = self  # of sums added to other memory, or a view that is handed in: that
        self.of: int | None = None  # the number of the kernel that writes it
        self._nbytes: int | None = None  # once it was asked for
        self.dependencies: dict[tuple[Any, ...], Any] = {}  # kept here by access.py

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
    def counted(self) -> int:
        """Bytes of its elements, by which Inductor estimates the peak."""
        return self.itemsize * prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of its storage."""
        if self._nbytes is None:
            self._nbytes = self.itemsize * self.numel
        return self._nbytes
