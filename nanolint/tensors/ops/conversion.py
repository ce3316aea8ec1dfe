"""Copies, and other types and devices: ``x.to``, ``x.float()`` (native/TensorConversions.cpp)."""

from __future__ import annotations

from typing import Any

from nanolint.tape.tape import Component
from nanolint.tensors.autograd import record
from nanolint.tensors.device import Device, NotTraced
from nanolint.tensors.dtypes import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    UINT8,
    Dtype,
)
from nanolint.tensors.layout import like_strides
from nanolint.tensors.ops import views
from nanolint.tensors.ops.views import cast, preserved
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.tracing import tracer_at
from nanolint.tensors.unknown import NotModelled

INPUTS = role("inputs", Component.INPUTS)  # what the host has made, and the card is given


def clone(x: Tensor, *, memory_format: object = None) -> Tensor:
    """``x.clone()``, in the format that it has."""
    if memory_format is not None:
        raise NotModelled("a clone in another format")
    return preserved(x)


def view(x: Tensor, *size: Any) -> Tensor:
    """``x.view(size)``, or ``x.view(dtype)``: the same bytes as another type."""
    if not isinstance(size[0], Dtype):
        return views.view(x, *size)
    if tracer_at(x.device) is not None:
        raise NotTraced("the bytes of one type as another")
    if x.requires_grad or x.dtype.itemsize != size[0].itemsize:
        raise NotModelled(
            "the bytes of one type as another, of another size or of a trainable tensor"
        )
    out = x.view(x.shape, x.strides, x.role)
    out.dtype = size[0]
    return out


def to(
    x: Tensor,
    *targets: Any,
    dtype: Dtype | None = None,
    device: Device | None = None,
    copy: object = False,
    **_options: Any,
) -> Tensor:
    """``x.to(dtype)``, ``x.to(device)``, ``x.to(device, dtype)``, ``x.to(other)``."""
    place, kind = device or x.device, dtype or x.dtype
    for each in targets:
        if isinstance(each, Dtype):
            kind = each
        elif isinstance(each, Device):
            place = each
        elif isinstance(each, Tensor):
            place, kind = each.device, each.dtype
    if place is not x.device:
        return _moved(x, place, kind)
    return preserved(x) if copy and kind is x.dtype else cast(x, kind)


def _moved(x: Tensor, device: Device, dtype: Dtype) -> Tensor:
    tracer = tracer_at(device)
    if tracer is not None:
        made: Tensor = tracer.call("moved", (x,), {})
        made.device = device
        return cast(made, dtype)
    kind = x.role
    if kind.component is Component.ACTIVATIONS and not x.requires_grad:
        kind = INPUTS
    out = empty(device, x.shape, dtype, kind, like_strides(x.shape, x.strides))
    before = x.device, x.dtype
    return record(out, (x,), lambda g: [_moved(g, *before)])


def type_as(x: Tensor, other: Tensor) -> Tensor:
    """``x.type_as(other)``."""
    return to(x, other)


def float(x: Tensor) -> Tensor:
    """``x.float()``."""
    return cast(x, FLOAT32)


def double(x: Tensor) -> Tensor:
    """``x.double()``."""
    return cast(x, FLOAT64)


def half(x: Tensor) -> Tensor:
    """``x.half()``."""
    return cast(x, FLOAT16)


def bfloat16(x: Tensor) -> Tensor:
    """``x.bfloat16()``."""
    return cast(x, BFLOAT16)


def long(x: Tensor) -> Tensor:
    """``x.long()``."""
    return cast(x, INT64)


def int(x: Tensor) -> Tensor:
    """``x.int()``."""
    return cast(x, INT32)


def bool(x: Tensor) -> Tensor:
    """``x.bool()``."""
    return cast(x, BOOL)


def byte(x: Tensor) -> Tensor:
    """``x.byte()``."""
    return cast(x, UINT8)
