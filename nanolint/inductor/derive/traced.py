"""Tensors that hold operations instead of memory, taken out of what a call returned.

What a call returned, taken apart into tensors and put together again.
"""

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
        """The tensor that it is a view of, through all views; itself if it is not a view."""
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


def flat(found: Any) -> list[Any]:
    """All that it holds, in order."""
    if isinstance(found, (list, tuple)):
        return [each for part in found for each in flat(part)]
    if isinstance(found, dict):
        return [each for part in found.values() for each in flat(part)]
    return [found]


class _Hole:
    """Where a tensor was returned."""


def hollow(found: Any) -> Any:
    """Returns the result of the function with holes in the place of tensors."""
    if isinstance(found, Tensor):
        return _Hole()
    if isinstance(found, (list, tuple)):
        return type(found)(map(hollow, found))
    if isinstance(found, dict):
        return {key: hollow(part) for key, part in found.items()}
    return found


def filled(pattern: Any, results: Any) -> Any:
    """Returns the results in the places of the tensors that the model returned."""
    if isinstance(pattern, _Hole):
        return next(results)
    if isinstance(pattern, (list, tuple)):
        return type(pattern)(filled(part, results) for part in pattern)
    if isinstance(pattern, dict):
        return {key: filled(part, results) for key, part in pattern.items()}
    return pattern
