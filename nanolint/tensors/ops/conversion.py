"""Copies, and other types and devices: ``x.to``, and the casts that autocast makes.

native/TensorConversions.cpp and aten/src/ATen/autocast_mode.h. Casts of autocast happen
from the last argument to the first, as the compiler that PyTorch is built with evaluates them. A
float32 leaf is cast once in a block, if a backward pass or nobody needs the cast: the cache keeps
it to the block's end. What torch.compile traces has no cache
(torch/fx/experimental/proxy_tensor.py, ``disable_autocast_cache``): each use has a cast, and a
gradient, of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tape.tape import Component
from nanolint.tape.torch import CACHED_CASTS_LEARN_SINCE
from nanolint.tensors.autograd import Leaf, record
from nanolint.tensors.device import Device, NotTraced
from nanolint.tensors.dtypes import FLOAT32, FLOATING, Dtype
from nanolint.tensors.layout import like_strides
from nanolint.tensors.ops import views
from nanolint.tensors.ops.views import cast, preserved
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.tracing import tracer_at
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from nanolint.tensors.role import Role

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


def to_half(x: Tensor) -> Tensor:
    """Returns an argument of a matrix product, in autocast's type if that is on."""
    half = x.device.half
    if half is None or x.dtype is half or x.dtype.kind != FLOATING or x.dtype.itemsize == 8:
        return x
    leaf = x.node
    is_cached = x.device.caches_casts and x.dtype is FLOAT32 and not x.is_view
    is_cached = is_cached and x.device.tracer is None
    if not is_cached or not isinstance(leaf, Leaf):
        return cast(x, half)
    casts = x.device.casts
    found = casts.get(leaf)
    if not isinstance(found, Tensor):
        found = casts[leaf] = _cached(x, half)
    return found


def _cached(x: Tensor, half: Dtype) -> Tensor:
    """A cast that is kept: it learns even where its first use does not."""
    device = x.device
    if device.release < CACHED_CASTS_LEARN_SINCE:
        return cast(x, half)
    before, device.grad_enabled = device.grad_enabled, True
    try:
        return cast(x, half)
    finally:
        device.grad_enabled = before


def to_float32(x: Tensor, role: Role | None = None) -> Tensor:
    """An argument of an operation that autocast runs in float32; ``role`` is its cast's."""
    if x.device.half is None or x.dtype.kind != FLOATING or x.dtype.itemsize == 8:
        return x
    return cast(x, FLOAT32, role)
