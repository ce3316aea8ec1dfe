"""Layers that are alike: one is read by itself, and the events of all the others are copied.

What a layer allocates follows from its input's layout and from a few settings of torch. So a twin
of it is run on a card of its own, forward and backward, and the events are kept as memory plans.
Which layers are alike is found in ``reading/alike.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.twin import Kind, slot_of, tensor_on
from nanolint.tape.torch import CACHED_CASTS_LEARN_SINCE
from nanolint.tensors.autograd import TWICE, Entangled, Leaf, numbers, run_graph
from nanolint.tensors.device import Storage
from nanolint.tensors.gradients import land, matched, receive, take_off
from nanolint.tensors.tensor import Node, Tensor, empty
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.interpreter.twin import Twin
    from nanolint.tape.tape import Handle, MemoryPlan, Tape
    from nanolint.tensors.device import Device
    from nanolint.tensors.parameter import Parameter


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
        """Another one. Raises Entangled where it is no longer like the first."""
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
        """The gradient of the input. Raises Entangled where another one is there already."""
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
