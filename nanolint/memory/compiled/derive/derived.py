"""A compiled module whose graphs are derived from its own operations.

Called as ``torch.compile(module)`` is: the first call in each mode traces the module, and each call
plays the memory plans that follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.memory.compiled.derive.program import Program
from nanolint.memory.compiled.inductor import Inductor
from nanolint.memory.model.module import Module
from nanolint.memory.tensors.device import NotTraced
from nanolint.memory.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.memory.tensors.device import Device
    from nanolint.memory.tensors.parameter import Buffer as ModelBuffer
    from nanolint.memory.tensors.parameter import Parameter

NEWEST = Inductor()


class Derived(Module):
    """``torch.compile(model)``: its parameters, and its calls as Inductor's graphs make them.

    Where the model has an operation that is not known, it is replayed as it is, eagerly, which
    hardly ever takes less, and the tape says so among its doubts.
    """

    def __init__(self, model: Module, device: Device, inductor: Inductor = NEWEST) -> None:
        self.model = model
        self._inductor = inductor
        self._device = device
        self._programs: dict[object, Program] = {}
        self._is_eager = False
        self._parameters = model.parameters()

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
        device = self._device
        if self._is_eager:
            return self.model(*arguments)
        key = (
            self.training,
            device.grad_enabled,
            device.half,
            tuple(
                (each.shape, each.strides, each.dtype) if isinstance(each, Tensor) else each
                for each in arguments
            ),
        )
        program = self._programs.get(key)
        if program is None:
            try:
                program = Program(device, self.model, arguments, self._parameters, self._inductor)
            except NotTraced as error:
                self._is_eager = True
                device.tape.doubts.append(
                    f"what torch.compile makes of {error} in this model is not known; it is "
                    "judged as it runs without, which takes more"
                )
                return self.model(*arguments)
            self._programs[key] = program
        return program.run(arguments)
