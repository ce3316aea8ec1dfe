"""``torch.amp.GradScaler``, which train.py enables for float16 (torch/amp/grad_scaler.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.tape import Component
from nanolint.tensors.dtypes import FLOAT32, FLOAT64
from nanolint.tensors.ops.pointwise import mul
from nanolint.tensors.role import role
from nanolint.tensors.tensor import empty

if TYPE_CHECKING:
    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.tensor import Tensor

SCALED_LOSS = role("scaled loss", Component.LOGITS_AND_LOSS)


class GradScaler:
    """Its scale and growth tracker are made by the first ``scale``."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._state: tuple[Tensor, Tensor] | None = None

    def _scalar(self, label: str, dtype: Dtype = FLOAT32) -> Tensor:
        return empty(self._device, (), dtype, role(label, Component.OPTIMIZER))

    def scale(self, loss: Tensor) -> Tensor:
        """The loss times the scale."""
        if self._state is None:
            scale = self._scalar("gradient scale")
            self._state = scale, self._scalar("gradient scaler's growth tracker")
        return mul(loss, self._state[0], role=SCALED_LOSS)

    def unscale(self) -> Tensor:
        """``unscale_``: 1/scale in float64, then a found_inf per device, which it returns."""
        wide = self._scalar("gradient scale", FLOAT64)
        inverse = self._scalar("inverse gradient scale", FLOAT64)
        del wide
        narrow = self._scalar("inverse gradient scale")
        del inverse
        on_host = self._scalar("found_inf")
        found = self._scalar("found_inf")
        moved = self._scalar("inverse gradient scale")
        del moved, narrow, on_host
        return found

    def found_inf(self) -> Tensor:
        """The sum over devices that the optimizer reads."""
        return self._scalar("gradient scaler's found_inf")
