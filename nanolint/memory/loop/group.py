"""The processes that exchange tensors over NCCL, and what their collectives hold until when.

As torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.torch import COLLECTIVES_HOLD_SINCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.memory.tensors.tensor import Tensor


class Work:
    """A collective that runs beside the script: ``shelf`` is what it holds until it is waited for,
    ``outputs`` what it returns, for as long as somebody has it."""

    __slots__ = ("outputs", "shelf")

    def __init__(self, outputs: Sequence[Tensor], shelf: list[Tensor]) -> None:
        self.outputs = list(outputs)
        self.shelf = shelf

    def wait(self) -> None:
        """``Work.wait()``: the stream waits, and the tensors are let go."""
        self.shelf.clear()


class Group:
    """The process group. ``size`` is the number of processes; with one nothing is exchanged.

    ``reduces`` inside the forward pass of DDP's wrapper; ``keeps`` what lives as long as it does.
    """

    def __init__(self, size: int, release: tuple[int, int]) -> None:
        self.size = size
        self.reduces = False
        self.keeps: Tensor | None = None
        self._holds = release >= COLLECTIVES_HOLD_SINCE
        self._running: list[list[Tensor]] = []
        self._done: list[list[Tensor]] = []

    def settle(self) -> None:
        """A backward pass begins: what ran before has ended, and the watchdog has seen it."""
        self._done += self._running
        self._running = []

    def run(
        self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], held: Sequence[Tensor] = ()
    ) -> Work:
        """A collective beside the script; ``held`` is what it holds besides."""
        shelf = [*inputs, *outputs, *held] if self._holds else []
        work = Work(outputs, shelf)
        self._enqueue(shelf)
        return work

    def run_at_once(self) -> None:
        """A collective that the script's own stream runs: it holds nothing."""
        self._enqueue([])

    def _enqueue(self, shelf: list[Tensor]) -> None:
        """``workEnqueue``: what the watchdog has seen the end of is let go."""
        for each in self._done:
            each.clear()
        self._done.clear()
        if shelf:
            self._running.append(shelf)
