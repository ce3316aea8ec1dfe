"""Windows of a signal (aten/src/ATen/native/TensorFactories.cpp, ``hamming_window``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tensors.ops.creation import MADE, create
from nanolint.tensors.ops.parts import narrow
from nanolint.tensors.tracing import tracer_at
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.tensor import Tensor


def hann_window(
    window_length: int,
    periodic: bool = True,
    *_factors: float,
    device: Device,
    dtype: Dtype | None = None,
    **_options: Any,
) -> Tensor:
    """``torch.hann_window`` and ``hamming_window``: numbers that are changed in place, of which a
    periodic one leaves out the last."""
    if tracer_at(device) is not None:
        raise NotModelled("a window in a graph")
    is_longer = periodic and window_length > 1
    made = create(device, (window_length + is_longer,), dtype or device.floats, MADE)
    return narrow(made, 0, 0, window_length) if is_longer else made
