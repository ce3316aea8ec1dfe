"""The tables of a module: ``_modules``, ``_parameters`` and ``_buffers``, as PyTorch has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.torch.modules import items
from nanolint.tensors.parameter import Parameter
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.interpreter.values import Instance, Value

MODULES, PARAMETERS, BUFFERS = TABLES = ("_modules", "_parameters", "_buffers")


class Table(dict[str, "Value"]):
    """One of them; what is put there is the module's."""

    def __init__(self, module: Instance, kind: str) -> None:
        self._module, self._kind = module, kind
        super().__init__(items(module) if kind == MODULES else _tensors(module, kind))

    def __setitem__(self, name: str, value: Value) -> None:
        super().__setitem__(name, value)
        self._module.attributes[name] = value
        if self._kind == BUFFERS:
            self._module.buffers.add(name)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        del self._module.attributes[name]

    def pop(self, name: str, *default: Value) -> Value:
        """As a dictionary's."""
        self._module.attributes.pop(name, None)
        return super().pop(name, *default)


def _tensors(module: Instance, kind: str) -> dict[str, Value]:
    return {
        name: value
        for name, value in module.attributes.items()
        if isinstance(value, Tensor)
        and (name in module.buffers if kind == BUFFERS else isinstance(value, Parameter))
    }
