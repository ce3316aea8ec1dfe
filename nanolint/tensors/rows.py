"""A list of tensors that are alike, as many as a formula says: what a batch is stacked of.

It is no list: what takes it for one cannot be read with symbolic numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.tensors.tensor import Tensor


class Rows:
    """``count`` tensors, each like ``row``."""

    __slots__ = ("count", "row")

    def __init__(self, row: Tensor, count: int) -> None:
        self.row = row
        self.count = count
