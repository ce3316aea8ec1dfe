"""Hooks on what operations save for the backward pass (``saved_tensors_hooks``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.device import Device
    from nanolint.tensors.tensor import Tensor


class Packed(Protocol):
    """What an operation saved, put away."""

    def unpack(self) -> tuple[Tensor | None, ...]:
        """The tensors."""


class Saver(Protocol):
    """Takes what operations save while a device has it."""

    def save(
        self, saved: tuple[Tensor | None, ...], outs: Sequence[Tensor], /
    ) -> tuple[Tensor | None, ...] | Packed:
        """What the operation that makes ``outs`` holds in their place."""


def saver_at(device: Device) -> Saver | None:
    """What takes the saved tensors of a device, if anything does."""
    saver: Saver | None = device.saver
    return saver
