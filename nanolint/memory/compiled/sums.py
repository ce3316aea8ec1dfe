"""The gradients of LayerNorms and biases: sums over all tokens, split as Inductor splits them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.graph import FLOAT, Buffer, Graph
from nanolint.memory.compiled.reductions import column_sum_splits, fused_sum_splits
from nanolint.memory.tape import Component
from nanolint.memory.tensors.ops.sums import scratch_bytes

if TYPE_CHECKING:
    from nanolint.memory.shapes import Shapes


class Sums:
    """Adds the kernels of such sums to ``graph``.

    ``fused`` is the number of partial sums per column when LayerNorm's are made by the kernel
    that makes the gradient of its input, 0 when they are not.
    """

    def __init__(self, shapes: Shapes, graph: Graph) -> None:
        self._shapes = shapes
        self._graph = graph
        self.fused = 0
        if shapes.inductor.mixes_sums:
            self.fused = fused_sum_splits(shapes.card, shapes.tokens, shapes.n_embd)

    def gradients(self, name: str) -> list[Buffer]:
        """LayerNorm's gradients, still to be computed: of its weight and, with bias, its bias."""
        parameters = ("weight", "bias") if self._shapes.bias else ("weight",)
        c = self._shapes.n_embd
        return [_gradient(f"{name}.{parameter}", c) for parameter in parameters]

    def workspace(self) -> Buffer:
        """The partial sums of LayerNorm's gradients in a fused kernel."""
        vectors = 2 if self._shapes.bias else 1
        return _partial(self.fused * vectors * self._shapes.n_embd)

    def passing(self, gradients: list[Buffer]) -> tuple[tuple[Buffer, ...], ...]:
        """What PyTorch takes to add up the partial sums of each gradient."""
        columns = self._shapes.n_embd
        sizes = scratch_bytes(self._shapes.card, (self.fused, columns), (columns, 1), (0,), 4)
        return tuple(scratch_of_sum(sizes) for _ in gradients)

    def later(self, gradients: list[Buffer]) -> tuple[Buffer, ...]:
        """The split sums as planned before the kernels were fused: partial sums to be added up.

        They are left out of the code, but the scheduler's estimate still counts them.
        """
        splits = self._splits(self._shapes.n_embd)
        if splits == 1:
            return tuple(gradients)
        parts = tuple(_partial(splits * self._shapes.n_embd) for _ in gradients)
        for part in parts:
            part.virtual = True
        return parts

    def finish(self, parts: tuple[Buffer, ...], gradients: list[Buffer]) -> None:
        """The nodes that would have added up the parts of ``later``."""
        for part, gradient in zip(parts, gradients, strict=True):
            if part is not gradient:
                self._graph.kernel((part,), gradient)

    def norm(self, name: str, reads: tuple[Buffer, ...]) -> list[Buffer]:
        """LayerNorm's gradients in kernels of their own."""
        gradients = self.gradients(name)
        splits = self._splits(self._shapes.n_embd)
        if splits == 1:
            self._graph.kernel(reads, *gradients)
            return gradients
        parts = [_partial(splits * self._shapes.n_embd) for _ in gradients]
        self._graph.kernel(reads, *parts)
        for part, gradient in zip(parts, gradients, strict=True):
            self._graph.kernel((part,), gradient)
        return gradients

    def bias(self, name: str, flow: Buffer, columns: int) -> Buffer:
        """The gradient of the bias of a Linear with ``columns`` outputs."""
        gradient = _gradient(f"{name}.bias", columns)
        splits = self._splits(columns)
        if splits == 1:
            self._graph.kernel((flow,), gradient)
            return gradient
        part = _partial(splits * columns)
        self._graph.kernel((flow,), part)
        self._graph.kernel((part,), gradient)
        return gradient

    def _splits(self, columns: int) -> int:
        shapes = self._shapes
        threads = shapes.inductor.threads_per_sm
        return column_sum_splits(shapes.card, shapes.tokens, columns, threads)


def scratch_of_sum(sizes: tuple[int, int]) -> tuple[Buffer, ...]:
    """What a sum of PyTorch's own takes while it runs (nanolint/memory/tensors/ops/sums.py)."""
    label, of = "partial results", Component.ACTIVATIONS
    return tuple(Buffer(label, each, FLOAT, of) for each in sizes if each)


def _gradient(name: str, columns: int) -> Buffer:
    return Buffer(f"gradient of {name} float32", 4 * columns, FLOAT, Component.GRADIENTS)


def _partial(numel: int) -> Buffer:
    return Buffer("partial sums float32", 4 * numel, FLOAT, Component.ACTIVATIONS)
