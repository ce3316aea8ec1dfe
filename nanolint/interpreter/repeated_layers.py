"""Layers that are alike: one is read by itself, and the events of all the others are copied.

What a layer allocates follows from its input's layout and from a few settings of torch. So a twin
of it is read on a card of its own, forward and backward, and the events are kept as memory plans.
Which layers are alike is found in ``alike.py``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.interpreter.module_signature import Copying, Form
from nanolint.interpreter.torch.functions import may_stop
from nanolint.tape.located import Located
from nanolint.tape.locating import named
from nanolint.tape.tape import MemoryPlan, Tape
from nanolint.tape.torch import CACHED_CASTS_LEARN_SINCE
from nanolint.tensors.autograd import (
    TWICE,
    Entangled,
    Leaf,
    land,
    matched,
    numbers,
    receive,
    run_graph,
    take_off,
)
from nanolint.tensors.checkpoint import checkpoint
from nanolint.tensors.device import Storage
from nanolint.tensors.parameter import Buffer
from nanolint.tensors.tensor import Node, Tensor, empty
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Instance, Options, Value
    from nanolint.tape.tape import Component, Handle, Mark
    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.parameter import Parameter
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
        """Returns the events since ``start``."""
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
    """The node at which the gradient of the twin's input arrives."""

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


class Forward:
    """A layer's forward pass, and its backward passes as they are asked for."""

    def __init__(self, twin: Callable[[], Twin]) -> None:
        self._twin = twin
        first = twin()
        self._written = _told(first.tape)
        self.plan = first.plan(first.start)
        self.out = Kind.of(first.out)
        self.x_slot, self.out_slot = slot_of(first.x), slot_of(first.out)
        places = {each.node: place for place, each in enumerate(first.parameters)}
        self.casts = [  # in the order in which the end of autocast's block lets them go
            (places[leaf], slot_of(cast), Kind.of(cast)) for leaf, cast in first.casts()
        ]
        self.slots = len(first.tape.sizes)
        root = first.let_go()  # a name, so that what it saved is not freed yet
        self.learns = root is not None
        own = {self.x_slot, *range(first.start.allocations, self.slots)}
        self.saved = own - {~event for event in first.tape.events if event < 0}
        events = len(first.tape.events)
        del root
        # In this order it goes where nobody asks for a backward pass.
        self.dropped = [~each for each in first.tape.events[events:] if ~each in self.saved]
        self._backwards: dict[object, _Backward] = {}

    def twin(self) -> Twin:
        """Returns another one. Raises Entangled if it is no longer like the first."""
        found = self._twin()
        if _told(found.tape) != self._written:
            raise Entangled
        return found

    def play(self, x: Tensor, parameters: Sequence[Parameter], calls: int = 0) -> Tensor:
        """The call with x, for the layer of these ``parameters``.

        ``calls`` of functions lie between the twin's and this one.
        """
        device, events = x.device, x.device.tape.events
        slots = [0] * self.slots
        _play(device.tape, calls, self.plan, slots)
        out = tensor_on(device, Storage(slots[self.out_slot], events), self.out)
        inside: list[Node] = [each.node for each in parameters if isinstance(each.node, Leaf)]
        shared = {self.x_slot: x.storage, self.out_slot: out.storage}
        # What others hold, too, is held by a storage; what only the graph does by its slot.
        for place, slot, kind in self.casts:
            cast = tensor_on(device, Storage(slots[slot], events), kind)
            shared[slot] = cast.storage
            device.casts[parameters[place].node] = cast
            if self.learns or device.release >= CACHED_CASTS_LEARN_SINCE:
                cast.node = _Inside((), ((cast.shape, cast.dtype, cast.role),), next(numbers))
                inside.append(cast.node)
        if self.learns:
            shared = {slot: storage for slot, storage in shared.items() if slot in self.saved}
            slots[self.x_slot] = -1 if x.storage is None else x.storage.handle
            edge = None if x.node is None else (x.node, x.index)
            of = Kind.of(out)
            out.node = _Copied(edge, self, device, slots, shared, parameters, of, calls)
            out.node.hides = inside
            if device.tape.locator is not None:
                device.tape.locator.made(out.node.number)
        return out

    def backward(self, gradient: Tensor, accumulates: tuple[bool, ...]) -> _Backward:
        """The plan of a backward pass that begins with ``gradient``, which is on its way."""
        storage = gradient.storage
        alone = gradient.in_flight == 1 and storage is not None and storage.in_flight == 1
        key = gradient.strides, gradient.is_view, alone, accumulates
        known = self._backwards.get(key)
        if known is None:
            twin = self.twin()
            known = _Backward(twin, self, Kind.of(gradient), alone, accumulates)
            self._backwards[key] = known
        return known


def _play(
    tape: Tape,
    calls: int,
    plan: MemoryPlan,
    slots: list[Handle],
    shared: dict[int, Storage | None] | None = None,
) -> None:
    locator = tape.locator
    if locator is not None:
        locator.later = calls
    tape.play(plan, slots, shared)
    if locator is not None:
        locator.later = 0


def _told(tape: Tape) -> tuple[list[int], list[int], list[str]]:
    return tape.events.copy(), tape.sizes.copy(), tape.names.copy()


class _Backward:
    """A layer's backward pass; those of its parameters that ``accumulates`` have gradients."""

    def __init__(
        self,
        twin: Twin,
        forward: Forward,
        kind: Kind,
        alone: bool,
        accumulates: tuple[bool, ...],
    ) -> None:
        device = twin.device
        index, entry = twin.out.index, twin.entry
        root = twin.let_go()
        assert root is not None, "a gradient for a tensor that is not differentiable"
        for each, has_gradient in zip(twin.parameters, accumulates, strict=True):
            if has_gradient and isinstance(each.node, Leaf):
                shape, dtype, role = each.node.outputs[0]
                each.node.gradient = empty(device, shape, dtype, role.gradient)
        gradient = empty(device, kind.shape, kind.dtype, kind.role, kind.strides)
        gradient.is_view = kind.is_view
        self.slot = slot_of(gradient)
        others = None if alone else gradient
        take_off(gradient)
        if others is not None:
            take_off(others)
        receive(root, index, gradient)
        del gradient
        start = twin.tape.mark()
        run_graph(root, device)
        casts = (slot for _, slot, _ in forward.casts)
        self.plan = twin.plan(start, {self.slot, forward.x_slot, forward.out_slot, *casts})
        self.slots = len(twin.tape.sizes)
        found = entry.gradients[0] if entry else None
        self.of_x = None if found is None else (slot_of(found), Kind.of(found))
        self.gradients = [
            None
            if has_gradient or not isinstance(each.node, Leaf) or each.node.gradient is None
            else (slot_of(each.node.gradient), Kind.of(each.node.gradient))
            for each, has_gradient in zip(twin.parameters, accumulates, strict=True)
        ]


class _Inside(Node):
    """What made a part of a layer that was copied as one: gradients come by the layer alone."""

    __slots__ = ()

    def run(self) -> list[Tensor | None]:
        """Raises Entangled: autocast's copy of a weight is used again, by a later call."""
        raise Entangled


class _Copied(Node):
    """The whole layer as one node of autograd's graph."""

    __slots__ = (
        "calls", "device", "events", "forward", "hides", "parameters", "shared", "slots",
    )  # fmt: skip

    def __init__(
        self,
        edge: tuple[Node, int] | None,
        forward: Forward,
        device: Device,
        slots: list[Handle],
        shared: dict[int, Storage | None],
        parameters: Sequence[Parameter],
        out: Kind,
        calls: int,
    ) -> None:
        super().__init__((edge,), ((out.shape, out.dtype, out.role),), next(numbers))
        self.calls = calls
        self.hides: Sequence[Node] = ()
        self.forward = forward
        self.device = device
        self.events = device.tape.events
        self.slots: list[Handle] | None = slots
        self.shared = shared
        self.parameters = parameters

    def inside(self) -> Sequence[Node]:
        """The leaves of its parameters, and what made their casts."""
        return self.hides

    def run(self) -> list[Tensor | None]:
        """Returns the gradient of the input. Raises Entangled if another one is there already."""
        edge = self.edges[0]
        if edge is not None and edge[0].gradients[edge[1]] is not None:
            raise Entangled  # inside, each part would be added to it as it comes
        (gradient,), self.gradients = self.gradients, [None]
        if gradient is None:
            return [None]
        slots, self.slots = self.slots, None
        shared, self.shared = self.shared, {}
        if slots is None:
            raise Refused(TWICE, of_graph=True)
        device, parameters = self.device, self.parameters
        accumulates = tuple(
            [isinstance(each.node, Leaf) and each.node.gradient is not None for each in parameters]
        )
        plan = self.forward.backward(gradient, accumulates)
        land(gradient)
        if device.awaits_workspace:
            device.multiply()
        slots += [0] * (plan.slots - len(slots))
        storage = gradient.storage
        slots[plan.slot] = -1 if storage is None else storage.handle
        shared[plan.slot] = storage
        del gradient, storage
        _play(device.tape, self.calls, plan.plan, slots, shared)
        for parameter, made in zip(parameters, plan.gradients, strict=True):
            if made is not None and isinstance(parameter.node, Leaf):
                slot, kind = made
                parameter.node.gradient = tensor_on(device, Storage(slots[slot], self.events), kind)
        if plan.of_x is None:
            return [None]
        slot, kind = plan.of_x
        held = shared.pop(slot) if slot in shared else Storage(slots[slot], self.events)
        return matched(self, [tensor_on(device, held, kind)])

    def __del__(self) -> None:
        if self.slots is not None:  # nobody asked for a backward pass
            for slot in self.forward.dropped:
                if slot in self.shared:
                    self.shared.pop(slot)
                else:
                    self.events.append(~self.slots[slot])


class Planned:
    """The events of one kind of call, by a twin in the place in which the program called it."""

    def __init__(
        self,
        machine: Machine,
        layer: Instance,
        x: Tensor,
        more: Sequence[Value],
        checkpointed: Options | None,
    ) -> None:
        self._machine = machine
        card = x.device
        self._around = machine.module, machine.line, machine.call_number, list(machine.callers)
        self._first, self._calls = machine.calls, 0
        self._on = card.tape
        pattern = card.alone(Tape())
        # A copy, as the layer may change before a backward pass asks for another twin.
        kept, like, half = Copying(pattern).of(layer), Kind.of(x), card.half
        requires_grad, grad_enabled = x.requires_grad, card.grad_enabled

        def twin() -> Twin:
            with self._there():
                return Twin(
                    lambda alone: Layer(machine, kept, alone, more, checkpointed),
                    like, pattern.alone(self._tape()), half,
                    requires_grad=requires_grad, grad_enabled=grad_enabled,
                )  # fmt: skip

        self._plan = Forward(twin)

    def play(self, x: Tensor, parameters: Sequence[Parameter]) -> Tensor:
        """The call of a layer of these parameters."""
        machine = self._machine
        later = machine.calls - self._first
        machine.calls += self._calls
        return self._plan.play(x, parameters, later)

    @contextmanager
    def _there(self) -> Iterator[None]:
        """Let the machine stand where the call is."""
        machine = self._machine
        before = machine.module, machine.line, machine.call_number
        callers, calls = machine.callers, machine.calls
        machine.module, machine.line, machine.call_number, there = self._around
        machine.callers, machine.calls = list(there), self._first
        try:
            yield
        finally:
            self._calls = machine.calls - self._first
            machine.module, machine.line, machine.call_number = before
            machine.callers, machine.calls = callers, calls

    def _tape(self) -> Tape:
        """A tape for a twin: what is doubted there is doubted of the whole."""
        of = self._on
        tape = Tape()
        if of.locator is not None:
            tape = Located()
            tape.reader = of.locator.reader
        tape.doubts, tape.above, tape.assumed = of.doubts, of.above, of.assumed
        tape.apart = of.apart
        return tape


class Layer:
    """A copy of a layer, on the card of a twin."""

    def __init__(
        self,
        machine: Machine,
        layer: Instance,
        card: Device,
        more: Sequence[Value],
        checkpointed: Options | None,
    ) -> None:
        copying = Copying(card)
        self._machine = machine
        self._made: Instance = copying.of(layer)
        self._more = more
        self._checkpointed = checkpointed
        self._tensors = copying.tensors
        form = Form(card)
        for each in copying.tensors:
            each.move()
        form.of(self._made)
        self.parameters = tuple(form.parameters)

    def __call__(self, x: Tensor) -> Tensor:
        """What it returns."""
        if self._checkpointed is None:
            return self._read(x, *self._more)
        options: dict[str, Any] = dict(self._checkpointed)
        out: Tensor = checkpoint(self._read, x, *self._more, device=x.device, **options)
        return out

    def _read(self, x: Tensor, *more: Value) -> Tensor:
        machine, card = self._machine, x.device
        before = machine.card, machine.default
        if machine.default is machine.card:
            machine.default = card
        machine.card = card
        try:
            with may_stop(machine):
                out: Tensor = machine.call(machine.attribute(self._made, "forward"), [x, *more])
        finally:
            machine.card, machine.default = before
        return out


def is_new(out: Value, x: Tensor) -> bool:
    """Whether a layer returns one tensor of its own."""
    if not isinstance(out, Tensor) or out.device is not x.device or out.storage is None:
        return False
    return out.storage is not x.storage and not isinstance(out, Buffer) and not out.is_view
