"""Autocast: which operations change their inputs' types, and its cache of cast weights.

aten/src/ATen/autocast_mode.h. Casts happen from the last argument to the first, as the compiler
that PyTorch is built with evaluates them. A float32 leaf is cast once in a block, if a backward
pass or nobody needs the cast: the cache keeps it to the block's end. What torch.compile traces has
no cache (torch/fx/experimental/proxy_tensor.py, ``disable_autocast_cache``): each use has a cast,
and a gradient, of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.torch import CACHED_CASTS_LEARN_SINCE
from nanolint.tensors.autograd import Leaf
from nanolint.tensors.dtypes import FLOAT32, FLOATING
from nanolint.tensors.ops.views import cast
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.role import Role


def to_half(x: Tensor) -> Tensor:
    """Returns an argument of a matrix product, in autocast's type if that is on."""
    half = x.device.half
    if half is None or x.dtype is half or x.dtype.kind != FLOATING or x.dtype.itemsize == 8:
        return x
    leaf = x.node
    is_cached = x.device.tracer is None and x.dtype is FLOAT32 and not x.is_view
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
