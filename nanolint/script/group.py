"""The processes that exchange tensors over NCCL, and what their collectives hold until when.

As torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, since PyTorch 2.15 nccl2/ProcessGroupNCCL.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.torch import COLLECTIVES_HOLD_SINCE, NCCL2_SINCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.tensor import Tensor


class Work:
    """A collective that runs while the script goes on: ``shelf`` holds its tensors until it is
    waited for, ``outputs`` its results, for as long as somebody has them."""

    __slots__ = ("_nccl2", "outputs", "shelf")

    def __init__(self, outputs: Sequence[Tensor], shelf: list[Tensor], *, nccl2: bool) -> None:
        self.outputs = list(outputs)
        self.shelf = shelf
        self._nccl2 = nccl2

    def wait(self) -> None:
        """``Work.wait()``: the stream waits, and the tensors are let go."""
        self.shelf.clear()

    def future(self) -> Work:
        """``Work.getFuture()``: nccl2 lets the stream wait at once, the first NCCL holds on."""
        if self._nccl2:
            self.shelf.clear()
        return self


class Group:
    """The process group. ``size`` is the number of processes.

    ``formed``: there is a group, so that collectives and DDP do their work, even if it has one
    process. ``reduces`` inside the forward pass of DDP's wrapper; ``keeps`` what lives as long as
    the group does.
    """

    def __init__(self, size: int, release: tuple[int, int]) -> None:
        self.size = size
        self.formed = size > 1
        self.nccl2 = release >= NCCL2_SINCE
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
        """Starts a collective while the script goes on; ``held`` is what it holds besides."""
        shelf = list(inputs) if self.nccl2 else [*inputs, *outputs, *held] if self._holds else []
        work = Work(outputs, shelf, nccl2=self.nccl2)
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
