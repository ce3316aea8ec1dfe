"""What the forward and the backward graph are built with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.graph import FLOAT, HALF, Buffer, Graph
from nanolint.memory.tape import Component

if TYPE_CHECKING:
    from nanolint.memory.shapes import Shapes


class Builder:
    """A graph under construction. ``btc`` is B*T*C, the elements of one activation matrix."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        passing = 0 if shapes.keeps_workspace else shapes.workspace_bytes
        self.graph = Graph(
            passing, shapes.passing_bias_bytes, counts_mutated=shapes.inductor.counts_mutated
        )
        self.dtype = HALF if shapes.half else FLOAT  # of the matrix products
        self.btc = shapes.tokens * shapes.n_embd

    def single(self, name: str, numel: int, component: Component = Component.ACTIVATIONS) -> Buffer:
        """A float32 tensor."""
        return Buffer(f"{name} float32", 4 * numel, FLOAT, component)

    def matrix(self, name: str, numel: int, component: Component = Component.ACTIVATIONS) -> Buffer:
        """A tensor in the dtype of the matrix products."""
        nbytes = self.shapes.itemsize * numel
        return Buffer(name, nbytes, self.dtype, component)
