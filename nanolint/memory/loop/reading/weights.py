"""The weights of a checkpoint that a run goes on from: on the card before the model has them.

``torch.load(path, map_location=device)`` puts them there one by one, in the order of the model's
state. What they are is known once a model takes them, so the setting up is read twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nanolint.memory.tensors.tensor import empty

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.memory.tensors.device import Device
    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.layout import Shape
    from nanolint.memory.tensors.parameter import Parameter
    from nanolint.memory.tensors.role import Role
    from nanolint.memory.tensors.tensor import Tensor

Weights: TypeAlias = "tuple[tuple[Shape, Dtype, Role], ...]"


class WeightsFound(BaseException):
    """What the first file holds that is loaded to the card; no program catches it."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weights = weights


class Checkpoint:
    """The first file that is loaded to the card, until a model takes what it holds."""

    def __init__(self, card: Device, weights: Weights | None) -> None:
        self._card = card
        self._weights = weights
        self._held: list[Tensor] = []
        self._is_loaded = False

    def load(self) -> None:
        """``torch.load`` of a file whose tensors come to lie on the card."""
        if not self._is_loaded:
            self._held = [empty(self._card, *each) for each in self._weights or ()]
        self._is_loaded = True

    def put_into(self, parameters: Iterable[Parameter]) -> None:
        """``load_state_dict(assign=True)``. Raises WeightsFound where that tells what they are."""
        listed = [each for each in parameters if each.storage is not None]
        if not self._is_loaded:
            return
        if self._weights is None:
            raise WeightsFound(tuple((each.shape, each.dtype, each.role) for each in listed))
        for each, loaded in zip(listed, self._held, strict=False):
            each.storage = loaded.storage
        self._held = []
