"""Names of the tensors of a model that is read: by their place in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.torch import modules
from nanolint.tape.tape import Component
from nanolint.tensors.autograd import Leaf
from nanolint.tensors.parameter import Parameter
from nanolint.tensors.role import role

if TYPE_CHECKING:
    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Instance


def name_parameters(machine: Machine, model: Instance) -> None:
    """Gives each parameter of ``model`` its name, also if it lies on the card by now."""
    tape = machine.card.tape
    for name, parameter in modules.parameters(model):
        parameter.role = role(kind_of(name), Component.PARAMETERS)
        if isinstance(parameter.node, Leaf):
            parameter.node.outputs = ((parameter.shape, parameter.dtype, parameter.role),)
        if parameter.storage is not None and parameter.device is machine.card:
            called = parameter.role.describe(parameter.shape, parameter.dtype)
            tape.names[parameter.storage.handle] = called


def count_tokens(model: Instance) -> int:
    """The rows of the largest table of embeddings: the vocabulary; 0 if there is none."""
    tables = [
        value.shape[0]
        for _, module in modules.modules(model)
        if module.cls.name == "Embedding"
        for value in module.attributes.values()
        if isinstance(value, Parameter)
    ]
    return max(tables, default=0)


def kind_of(name: str) -> str:
    """A name without the numbers of layers: what is alike is called alike."""
    for wrapper in ("module.", "_orig_mod.", "transformer."):
        name = name.removeprefix(wrapper)
    parts = name.split(".")
    return ".".join(each for each in parts if not each.isdigit())
