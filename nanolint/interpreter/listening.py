"""The seam through which a reading tells what a program does with modes, losses and gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.interpreter.values import Instance, Value
    from nanolint.tensors.autograd import Leaf
    from nanolint.tensors.parameter import Parameter
    from nanolint.tensors.tensor import Tensor

# The operations that are told; of all others those whose result is one number that learns.
TOLD = frozenset({"dropout", "scaled_dot_product_attention", "softmax", "log_softmax", "embedding"})


class Listener:
    """Is told it, and does nothing about it. ``inside`` are the modules that are being called."""

    def __init__(self) -> None:
        self.inside: list[Instance] = []

    def enters(self, module: Instance) -> None:
        """The forward pass of a module begins."""
        self.inside.append(module)

    def leaves(self) -> None:
        """It ends."""
        self.inside.pop()

    def sets_mode(self, module: Instance, *, trains: bool) -> None:
        """``module.train()``, or ``.eval()``."""

    def made(
        self, name: str, arguments: tuple[Value, ...], options: dict[str, Value], found: Value
    ) -> None:
        """An operation was called."""

    def writes(self, x: Tensor, name: str) -> None:
        """An operation writes into a tensor."""

    def puts(self, holder: Parameter | Leaf, gradient: Tensor | None) -> None:
        """A gradient is put in the place of another one, or of none."""

    def goes_back(self, loss: Tensor) -> None:
        """A backward pass begins."""

    def went_back(self) -> None:
        """It ends."""
