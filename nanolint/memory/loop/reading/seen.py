"""What a script was seen to train with: the shape of its batches, its passes to a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tensors.dtypes import INT32, INT64
from nanolint.memory.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.memory.model.reading.values import Value

TOKENS = (INT32, INT64)


class Seen:
    """Notes it while the script is read. ``shape`` is that of the first tokens that a model is
    given between the making of the optimizer and a backward pass; ``passes`` are those of the
    step that was last."""

    def __init__(self) -> None:
        self.shape: tuple[int, ...] | None = None
        self.passes = 0
        self.backward = 0
        self.evaluated: tuple[int, ...] | None = None  # the shape of the first that learns nothing
        self._given: tuple[int, ...] | None = None

    @property
    def only_evaluates(self) -> bool:
        """Whether a model was given tokens, and none for training."""
        return self.evaluated is not None and self.shape is None and not self.backward

    def called(self, arguments: list[Value], *, learns: bool) -> None:
        """A module is called."""
        tokens = arguments[0] if arguments else None
        if not isinstance(tokens, Tensor) or tokens.dtype not in TOKENS or len(tokens.shape) != 2:
            return
        if learns:
            self._given = self._given or tokens.shape
        else:
            self.evaluated = self.evaluated or tokens.shape

    def went_back(self) -> None:
        """A backward pass begins."""
        self.backward += 1
        self.shape = self._given or self.shape
        self._given = None

    def evaluates(self) -> None:
        """What was given was not for training."""
        self._given = None

    def stepped(self) -> None:
        """An optimizer has stepped."""
        if self.backward:
            self.passes, self.backward = self.backward, 0
