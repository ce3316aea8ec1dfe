"""The eager program: nanoGPT's model without torch.compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.eager.attention import kernel
from nanolint.memory.eager.backward import Backward
from nanolint.memory.eager.forward import Forward

if TYPE_CHECKING:
    from nanolint.memory.eager.forward import Saved
    from nanolint.memory.program import Inputs, Outputs, Shapes
    from nanolint.memory.tape import Handle, Tape


class Eager:
    """How one call of the model allocates: see ``nanolint.memory.program.Program``."""

    def __init__(self, shapes: Shapes, rec: Tape) -> None:
        attention = kernel(shapes, rec)
        self._forward = Forward(shapes, rec, attention)
        self._backward = Backward(shapes, rec, attention)
        self._saved: Saved | None = None

    def evaluate(self, inputs: Inputs, previous: Outputs | None) -> Outputs:
        """A forward pass in eval mode under no_grad: nothing is saved."""
        outputs, _ = self._forward.run(inputs, previous, train=False)
        return outputs

    def forward(self, inputs: Inputs, previous: Outputs | None) -> Outputs:
        """A training forward pass; keeps what ``backward`` needs."""
        outputs, self._saved = self._forward.run(inputs, previous, train=True)
        return outputs

    def backward(self, gradients: list[Handle] | None) -> list[Handle]:
        """The backward pass; frees what ``forward`` saved."""
        saved, self._saved = self._saved, None
        assert saved is not None, "backward without a forward"
        return self._backward.run(saved, gradients)
