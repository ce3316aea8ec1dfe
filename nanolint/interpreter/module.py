"""``nn.Module`` as far as memory goes: what it owns, in order, and calls that hold arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tensors.parameter import Buffer, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.tensors.device import Device


class Module:
    """Its attributes are its submodules, parameters and buffers, in the order of assignment."""

    training = True
    host: Device | None = None  # where tensors lie that are numbers
    _below: tuple[Module, ...] | None = None

    def forward(self, *arguments: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError

    def __call__(self, *arguments: Any) -> Any:
        """Run ``forward``; the arguments live at least as long."""
        return self.forward(*arguments)

    def children(self) -> Iterator[Module]:
        """The modules that it is made of; a list counts as its elements."""
        for value in vars(self).values():
            if isinstance(value, Module):
                yield value
            elif isinstance(value, list):
                yield from value

    def modules(self) -> tuple[Module, ...]:
        """Itself and all below it, each before those below it; it is complete by then."""
        if self._below is None:  # without itself: a circle would keep its memory
            self._below = tuple(each for child in self.children() for each in child.modules())
        return (self, *self._below)

    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters below it, each once, as ``nn.Module.parameters`` lists them."""
        owned = (
            value
            for module in self.modules()
            for value in vars(module).values()
            if isinstance(value, Parameter)
        )
        return tuple(dict.fromkeys(owned))

    def decayed_first(self) -> tuple[Parameter, ...]:
        """configure_optimizers' order: matrices, which decay, then biases and norms' weights."""
        return tuple(sorted(self.parameters(), key=lambda parameter: parameter.ndim < 2))

    def state(self) -> tuple[Buffer, ...]:
        """Parameters and buffers in the order in which ``.to(device)`` moves them."""
        return tuple(dict.fromkeys(self._state()))

    def _state(self) -> Iterator[Buffer]:
        for child in self.children():
            yield from child._state()
        own = [value for value in vars(self).values() if isinstance(value, Buffer)]
        yield from sorted(own, key=lambda each: not isinstance(each, Parameter))

    def train(self, mode: bool = True) -> None:
        """``.train()``; ``.eval()`` with False."""
        for module in self.modules():
            module.training = mode
