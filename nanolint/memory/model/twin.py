"""A layer on a card of its own: what it allocates there is what every layer like it allocates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.memory.tape import MemoryPlan, Tape
from nanolint.memory.tensors.autograd import numbers
from nanolint.memory.tensors.device import Device, Storage
from nanolint.memory.tensors.tensor import Node, Tensor, empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nanolint.memory.model.module import Module
    from nanolint.memory.tape import Component, Mark
    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.layout import Shape, Strides
    from nanolint.memory.tensors.parameter import Parameter
    from nanolint.memory.tensors.role import Role


class Made(NamedTuple):
    slot: int
    nbytes: int
    name: str
    component: Component


class Kind(NamedTuple):
    """All of a tensor but its memory."""

    shape: Shape
    strides: Strides
    dtype: Dtype
    role: Role
    is_view: bool

    @classmethod
    def of(cls, tensor: Tensor) -> Kind:
        return cls(tensor.shape, tensor.strides, tensor.dtype, tensor.role, tensor.is_view)


class Twin:
    """A layer on a card of its own, whose handles are the slots of the plans."""

    def __init__(
        self,
        make: Callable[[Device], Module],
        like: tuple[Shape, Strides, Dtype, Role, bool],
        half: Dtype | None,
        grad_enabled: bool,
        training: bool,
        sm_count: int,
        threads_per_sm: int,
        workspace: int,
        bias_workspace: int,
        attention_state: bool | None,
        release: tuple[int, int],
    ) -> None:
        self.tape = Tape()
        self.device = device = Device(
            self.tape,
            sm_count=sm_count,
            threads_per_sm=threads_per_sm,
            workspace_bytes=workspace,
            passing_bias_bytes=bias_workspace,
            keeps_workspace=False,
            attention_state=attention_state,
            release=release,
        )
        self.layer = layer = make(device)
        layer.train(training)
        for each in layer.state():
            each.move()
        device.half, device.grad_enabled = half, grad_enabled
        self.parameters = layer.parameters()
        shape, strides, dtype, role, requires_grad = like
        self.x = empty(device, shape, dtype, role, strides)
        self.entry = Entry(self.x) if requires_grad else None
        self.x.node = self.entry
        self.start = self.tape.mark()
        self.out: Tensor = layer(self.x)

    def cast_of(self, parameter: Parameter) -> Tensor | None:
        """Autocast's copy of a parameter."""
        found = self.device.casts.get(parameter.node)
        return found if isinstance(found, Tensor) else None

    def plan(self, start: Mark, shared: Iterable[int] = ()) -> MemoryPlan:
        """What was written since ``start``."""
        tape = self.tape
        made = range(start.allocations, len(tape.sizes))
        allocations = [
            Made(slot, tape.sizes[slot], tape.names[slot], tape.components[slot]) for slot in made
        ]
        return MemoryPlan(allocations, tape.events[start.events :], set(shared))

    def let_go(self) -> Node | None:
        """Only the graph holds anything now; returns its newest node."""
        root = self.out.node
        self.device.casts.clear()
        del self.x, self.out
        return root


class Entry(Node):
    """Where the gradient of the twin's input arrives."""

    __slots__ = ()

    def __init__(self, x: Tensor) -> None:
        super().__init__((), ((x.shape, x.dtype, x.role),), next(numbers))

    def run(self) -> list[Tensor | None]:
        return []


def slot_of(tensor: Tensor) -> int:
    return -1 if tensor.storage is None else tensor.storage.handle


def tensor_on(device: Device, storage: Storage | None, kind: Kind) -> Tensor:
    shape, strides, dtype, role, is_view = kind
    return Tensor(device, storage, shape, strides, dtype, role, is_view)
