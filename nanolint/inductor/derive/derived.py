"""A compiled module whose graphs are derived from its own operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.inductor.derive.function import NEWEST, CompiledFunction
from nanolint.interpreter.module import Module

if TYPE_CHECKING:
    from nanolint.inductor.inductor import Inductor
    from nanolint.tensors.device import Device
    from nanolint.tensors.parameter import Buffer as ModelBuffer
    from nanolint.tensors.parameter import Parameter


class Derived(Module):
    """``torch.compile(model)``: its parameters, and its calls as Inductor's graphs make them."""

    def __init__(self, model: Module, device: Device, inductor: Inductor = NEWEST) -> None:
        self.model = model
        self._call = CompiledFunction(
            model,
            device,
            inductor,
            host=model.host,
            state=lambda: self.training,
            held=lambda _: model.state(),
        )

    def parameters(self) -> tuple[Parameter, ...]:
        """The model's own."""
        return self.model.parameters()

    def state(self) -> tuple[ModelBuffer, ...]:
        """The model's own."""
        return self.model.state()

    def train(self, mode: bool = True) -> None:
        """``.train()``; ``.eval()`` with False."""
        self.training = mode
        self.model.train(mode)

    def forward(self, *arguments: Any) -> Any:
        """What the model returns."""
        return self._call(*arguments)
