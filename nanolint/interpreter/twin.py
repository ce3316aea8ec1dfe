"""A layer on a card of its own: what it allocates there is what every layer like it allocates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.tape.locating import named
from nanolint.tape.tape import MemoryPlan
from nanolint.tensors.autograd import numbers
from nanolint.tensors.tensor import Node, Tensor, empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nanolint.interpreter.planned import Layer
    from nanolint.tape.tape import Component, Mark, Tape
    from nanolint.tensors.device import Device, Storage
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role


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
        make: Callable[[Device], Layer],
        like: Kind,
        device: Device,
        half: Dtype | None,
        *,
        requires_grad: bool,
        grad_enabled: bool,
    ) -> None:
        self.tape = device.tape
        self.device = device
        self.layer = layer = make(device)
        device.half, device.grad_enabled = half, grad_enabled
        self.parameters = layer.parameters
        self.x = empty(device, like.shape, like.dtype, like.role, like.strides)
        self.x.is_view = like.is_view
        self.entry = Entry(self.x) if requires_grad else None
        self.x.node = self.entry
        self.start = self.tape.mark()
        self.out: Tensor = layer(self.x)

    def casts(self) -> Iterator[tuple[Node, Tensor]]:
        """Autocast's copies of parameters, by their leaves, in the order they were made in."""
        for leaf, cast in self.device.casts.items():
            assert isinstance(leaf, Node)
            assert isinstance(cast, Tensor)
            yield leaf, cast

    def plan(self, start: Mark, shared: Iterable[int] = ()) -> MemoryPlan:
        """What was written since ``start``."""
        tape = self.tape
        made = range(start.allocations, len(tape.sizes))
        allocations = [
            Made(slot, tape.sizes[slot], _name(tape, slot), tape.components[slot]) for slot in made
        ]
        plan = MemoryPlan(allocations, tape.events[start.events :], set(shared))
        plan.flops = {kind: flops - start.flops.get(kind, 0) for kind, flops in tape.flops.items()}
        return plan

    def let_go(self) -> Node | None:
        """Only the graph holds anything now; returns its newest node."""
        root = self.out.node
        self.device.casts.clear()
        del self.x, self.out
        return root


def _name(tape: Tape, slot: int) -> str:
    """What an allocation is called, with its place where the tape has one."""
    locator = tape.locator
    return tape.names[slot] if locator is None else named(tape.names[slot], locator.place(slot))


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
