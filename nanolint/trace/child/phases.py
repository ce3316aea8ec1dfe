"""What the script is at: setting up, evaluating, forward, backward, in the optimizer's step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from . import history, report
from .exchanged import Exchanged

if TYPE_CHECKING:
    from .later import Later


class Stop(BaseException):
    """As many optimizer steps as were asked for are done; no script catches it."""


class Phases:
    """Marks, each (allocations before it, phase), and what the optimizers hold.

    Setting up ends with the last optimizer that is made; ``eval()`` and ``train()`` of a model
    begin and end an evaluation; from the end of a backward pass to the next forward pass all is
    the optimizer's: unscaling and clipping come before its step.
    """

    def __init__(self, steps: int | None, later: Later) -> None:
        self.marks: list[tuple[int, str]] = [(0, "setup")]
        self.gradients: list[tuple[int, list[int]]] = []  # addresses, after so many allocations
        self.optimizers: list[Optimizer] = []
        self._steps, self._later = steps, later  # no number of steps: as far as is needed
        self.done = 0  # steps of all optimizers
        self._done: dict[int, int] = {}
        self._exchanged = Exchanged()
        self._modes = 0  # depth of calls of train(), which calls itself for each child

    def mark(self, phase: str) -> None:
        """From here on, what is allocated belongs to ``phase``."""
        if self.marks[-1][1] != phase:
            self.marks.append((history.allocations(), phase))
            report.line(phase=phase, step=max(self._done.values(), default=0) + 1)

    def watch(self) -> None:
        """Put the marks where torch passes."""
        _keep_hooks()
        register_optimizer_step_pre_hook(self._before_step)
        register_optimizer_step_post_hook(self._after_step)
        self._watch_backward()
        self._watch_modes()
        self._watch_optimizers()

    def _before_step(self, optimizer: Optimizer, *_: Any) -> None:
        at = history.allocations()
        if self.marks[-1][1] == "after_backward":
            self.marks[-1] = (self.marks[-1][0], "optimizer")
        self.mark("optimizer")
        self.gradients.append((at, [
            _address(parameter.grad)
            for group in optimizer.param_groups for parameter in group["params"]
            if parameter.grad is not None and parameter.grad.is_cuda
        ]))  # fmt: skip

    def _after_step(self, optimizer: Optimizer, *_: Any) -> None:
        self._done[id(optimizer)] = self._done.get(id(optimizer), 0) + 1
        done = min(self._done.values())
        if self._steps is None:
            if done > self.done and self._later.enough(done):
                raise Stop
        elif done >= self._steps:
            raise Stop
        self.done = done
        self.mark("forward")

    def _watch_backward(self) -> None:
        backward = torch.autograd.backward

        def marked(*arguments: Any, **options: Any) -> Any:
            self._exchanged.settle()
            self.mark("backward")
            try:
                return backward(*arguments, **options)
            finally:
                # Renamed if an optimizer's step comes next; else it is the next forward pass.
                self.mark("after_backward")

        torch.autograd.backward = marked

    def _watch_modes(self) -> None:
        train = torch.nn.Module.train

        def marked(module: Any, mode: bool = True) -> Any:
            self._modes += 1
            try:
                return train(module, mode)
            finally:
                self._modes -= 1
                if not self._modes and self.marks[-1][1] != "setup":
                    late = "eval_late" if self._done else "eval"
                    self.mark("forward" if mode else late)

        torch.nn.Module.train = marked

    def _watch_optimizers(self) -> None:
        made = Optimizer.__init__

        def marked(optimizer: Any, *arguments: Any, **options: Any) -> None:
            made(optimizer, *arguments, **options)
            self.optimizers.append(optimizer)
            if not self._done:
                self.marks.append((history.allocations(), "forward"))

        Optimizer.__init__ = marked

    def named(self) -> list[tuple[int, str]]:
        """The marks, with what follows a backward pass and is no step as forward."""
        return [(at, "forward" if phase == "after_backward" else phase) for at, phase in self.marks]

    def state(self) -> list[int]:
        """Addresses of what the optimizers keep between steps."""
        return [
            _address(value)
            for optimizer in self.optimizers for kept in optimizer.state.values()
            for value in _tensors(kept)
        ]  # fmt: skip

    def parameters(self) -> list[int]:
        """Addresses of what the optimizers update."""
        return [
            _address(parameter)
            for optimizer in self.optimizers
            for group in optimizer.param_groups for parameter in group["params"]
            if parameter.is_cuda
        ]  # fmt: skip


def _keep_hooks() -> None:
    """Dynamo of 2.2 takes the hooks off all optimizers, once: have that behind us."""
    if torch.__version__ >= "2.4":  # a TorchVersion, compared by its numbers
        return
    from torch._dynamo.eval_frame import TorchPatcher

    TorchPatcher.patch()
    every: list[Any] = [each for each in vars(torch.optim).values() if isinstance(each, type)]
    for kind in every:
        if issubclass(kind, Optimizer):
            kind.step.hooked = False


def _address(tensor: Any) -> int:
    """Of a tensor that is spread over ranks (FSDP2's), that of this rank's piece."""
    own = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    address: int = own.untyped_storage().data_ptr()
    return address


def _tensors(kept: Any) -> list[torch.Tensor]:
    values = kept.values() if isinstance(kept, dict) else [kept]
    return [value for value in values if isinstance(value, torch.Tensor) and value.is_cuda]
