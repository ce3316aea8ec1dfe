"""``copy``: objects made anew, with tensors of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Instance, Unknown
from nanolint.tensors.parameter import Parameter
from nanolint.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value


def shallow(value: Value) -> Value:
    if isinstance(value, (list, dict, set)):
        return value.copy()
    if isinstance(value, Instance):
        made = Instance(value.cls)
        made.attributes = dict(value.attributes)
        made.buffers = set(value.buffers)
        made.native, made.opened = value.native, value.opened
        return made
    return value


def _copied_parameter(value: Parameter) -> Parameter:
    """Another parameter where this one is, without its gradient: torch/nn/parameter.py."""
    made = Parameter(value.device, value.role.label, value.shape, value.dtype)
    if value.storage is not None:
        made.move()
    made.require_gradient(value.requires_grad)
    return made


def copied(value: Value, seen: dict[int, Value]) -> Value:
    """``copy.deepcopy``: tensors and modules are made anew, each once."""
    if id(value) in seen:
        return seen[id(value)]
    found = value
    if isinstance(value, (list, tuple, set)):
        found = type(value)(copied(each, seen) for each in value)
    elif isinstance(value, dict):
        found = {key: copied(each, seen) for key, each in value.items()}
    elif isinstance(value, Instance):
        found = seen[id(value)] = shallow(value)
        found.attributes = {key: copied(each, seen) for key, each in value.attributes.items()}
    elif isinstance(value, Parameter):
        found = _copied_parameter(value)
    elif isinstance(value, Tensor) and value.storage is not None:
        found = empty(value.device, value.shape, value.dtype, value.role, value.strides)
        empty(value.device, (), value.dtype, value.role)  # torch/_tensor.py: set_ to the other
    elif isinstance(value, Unknown):
        return value
    seen[id(value)] = found
    return found
