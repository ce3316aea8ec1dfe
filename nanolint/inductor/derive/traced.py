"""Tensors that hold operations instead of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tensors.device import NotTraced
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from nanolint.inductor.derive.operations import Operation
    from nanolint.tensors.device import Device
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role


class Living:
    """How many tensors of a graph there are."""

    count = 0


class Traced(Tensor):
    """A tensor that holds the operation that makes it.

    A view knows its ``source`` and what ``step`` leads there, so that writing into one is seen by
    all; ``version`` counts what was written, and is what a view has ``seen``. It is counted with
    those of its graph: one that outlives that was left somewhere.
    """

    __slots__ = ("_living", "made", "seen", "source", "step", "version")

    def __init__(
        self,
        device: Device,
        made: Operation,
        role: Role | None = None,
        source: Traced | None = None,
        step: tuple[Any, ...] = (),
    ) -> None:
        self._living: Living = Living() if device.tracer is None else device.tracer.living
        self._living.count += 1
        super().__init__(
            device,
            None,
            made.shape,
            made.strides,
            made.dtype,
            role or made.role,
            source is not None,
        )
        self.made = made
        self.source, self.step = source, step
        self.version = 0
        self.seen = 0 if source is None else source.root.version

    def __del__(self) -> None:
        self._living.count -= 1

    @property
    def root(self) -> Traced:
        """What it is a view of, through all views; itself where it is none."""
        found = self
        while found.source is not None:
            found = found.source
        return found

    def view(self, shape: Shape, strides: Strides, role: Role) -> Tensor:
        """While it is traced none but those that a tracer is told of. Raises NotTraced."""
        if self.device.tracer is not None:
            raise NotTraced("a view that has no name")
        return super().view(shape, strides, role)

    def detach(self) -> Traced:
        """The same tensor, without what made it differentiable."""
        found = Traced(self.device, self.made, self.role, self)
        found.is_view = self.is_view
        return found
