"""Tensors that depend on no other: ``torch.arange``, ``zeros``, ``ones``, ``full``, ``empty``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.tensor import Tensor, empty
from nanolint.memory.tensors.tracing import tracer_at

if TYPE_CHECKING:
    from nanolint.memory.tensors.device import Device
    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.layout import Shape
    from nanolint.memory.tensors.role import Role


def create(device: Device, shape: Shape, dtype: Dtype, role: Role, what: str = "arange") -> Tensor:
    """A new tensor; two that are ``what`` alike may be one inside a compiled graph."""
    tracer = tracer_at(device)
    if tracer is not None:
        return tracer.create(what, shape, dtype, role)
    return empty(device, shape, dtype, role)
