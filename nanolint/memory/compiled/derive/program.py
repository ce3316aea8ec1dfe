"""The memory plans of one traced call: how they are made, and how they are played."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from nanolint.memory.compiled.derive.capture import Capture, capture
from nanolint.memory.compiled.derive.emission import Emission
from nanolint.memory.compiled.derive.formulas import FORMULAS
from nanolint.memory.compiled.derive.fusion import fuse
from nanolint.memory.compiled.derive.joint import simplify
from nanolint.memory.compiled.derive.lowering import Lowering
from nanolint.memory.compiled.derive.operations import INPUT, VIEW, Operation
from nanolint.memory.compiled.derive.partition import Parts, partition
from nanolint.memory.compiled.derive.results import filled, flat, hollow
from nanolint.memory.compiled.order import reorder
from nanolint.memory.compiled.planner import Planner
from nanolint.memory.tensors.autograd import numbers
from nanolint.memory.tensors.device import NotTraced, Storage
from nanolint.memory.tensors.gradients import land, matched
from nanolint.memory.tensors.role import role
from nanolint.memory.tensors.tensor import Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.memory.compiled.graph import Buffer
    from nanolint.memory.compiled.inductor import Inductor
    from nanolint.memory.model.module import Module
    from nanolint.memory.tape import Handle
    from nanolint.memory.tensors.device import Device
    from nanolint.memory.tensors.parameter import Parameter

# What a graph that no rule here was written for may end in.
BEYOND = (AssertionError, LookupError, ValueError, TypeError, StopIteration)


class Program:
    """The plans of one traced call."""

    def __init__(
        self,
        device: Device,
        model: Module,
        arguments: Sequence[Any],
        parameters: Sequence[Parameter],
        inductor: Inductor,
    ) -> None:
        self.device = device
        self.inductor = inductor
        self.parameters = parameters
        self.learns = device.grad_enabled
        self._pattern: Any = None

        def forward() -> list[Tensor]:
            found = model(*arguments)
            self._pattern = hollow(found)
            return [each for each in flat(found) if isinstance(each, Tensor)]

        found = capture(device, forward, parameters, FORMULAS)
        simplify(found.graph, learns=self.learns)
        weights = {found.inputs[id(each)] for each in parameters if id(each) in found.inputs}
        self._given = {
            found.inputs[id(each)]: place
            for place, each in enumerate(arguments)
            if isinstance(each, Tensor) and id(each) in found.inputs
        }
        found.let_go()
        try:
            self._derive(found, weights)
        except BEYOND as error:
            raise NotTraced("all its operations together") from error

    def _derive(self, found: Capture, weights: set[Operation]) -> None:
        if self.learns:
            parts = partition(found.graph, weights)
        else:
            parts = Parts([each for each in found.graph.all if each.kind != INPUT], [], [])
        self._plan_forward(found, parts)
        if self.learns:
            self._plan_backward(found, parts)

    def _lowered(
        self,
        operations: list[Operation],
        inputs: Sequence[Operation],
        outputs: Sequence[Operation],
        **how: Any,
    ) -> tuple[Lowering, Emission]:
        device = self.device
        lowering = Lowering(
            operations, inputs, outputs,
            sm_count=device.sm_count, threads_per_sm=device.threads_per_sm,
        )  # fmt: skip
        lowering.run(operations)
        kept = set()
        for each in outputs:
            memory = lowering.output(each)
            memory.kept = True
            kept.add(memory)
        groups = fuse(lowering.kernels, kept, mixes=self.inductor.mixes_sums)
        emission = Emission(
            groups, lowering.inputs,
            workspace_bytes=device.passing_workspace_bytes, sm_count=device.sm_count,
            counts_mutated=self.inductor.counts_mutated, **how,
        )  # fmt: skip
        return lowering, emission

    def _plan_forward(self, found: Capture, parts: Parts) -> None:
        inputs = [each for each in found.graph.all if each.kind == INPUT]
        outputs = [*found.graph.outputs, *parts.saved]
        outputs = [each for each in dict.fromkeys(outputs) if _base(each).kind != INPUT]
        lowering, emission = self._lowered(
            parts.forward, inputs, outputs,
            donated=(), freed=set(self._given), counted=(),
        )  # fmt: skip
        if self.inductor.reorders:
            reorder(emission.graph)
        self.slots = len(self._given)
        for operation, place in self._given.items():
            memory = lowering.inputs.get(operation)
            if memory is not None and memory in emission.buffers:
                buffer = emission.buffers[memory]
                buffer.slot, buffer.kept = place, True
        self.first = 1 + max(self._given.values(), default=-1)
        planner = Planner(emission.graph, self.first, weighs=self.inductor.weighs_reuse)
        self.forward_plan = planner.plan()
        self.slots = planner.slots
        self._slot_of: dict[Operation, int] = {}
        for each in outputs:
            self._slot_of[_base(each)] = _slot(lowering, emission, each)
        self.results = [(each, self._slot_of.get(_base(each))) for each in found.graph.outputs]

    def _plan_backward(self, found: Capture, parts: Parts) -> None:
        graph = found.graph
        gradients = [each for each in graph.gradients if each is not None]
        bases = dict.fromkeys(_base(each) for each in parts.saved)
        given_out = {_base(each) for each in graph.outputs}
        freed = {each for each in bases if each.kind != INPUT or each in self._given}
        counted = {each for each in freed if each.kind != INPUT}
        single = {_base(each) for each in parts.saved if each.kind != VIEW} | {
            base for base in bases if sum(_base(each) is base for each in parts.saved) == 1
        }
        lowering, emission = self._lowered(
            parts.backward, [*parts.saved, *graph.tangents], gradients,
            donated=(counted & single) - given_out,
            freed=freed | set(graph.tangents), counted=counted,
        )  # fmt: skip
        if self.inductor.reorders:
            reorder(emission.graph)
        self.tangent_slots = [self.slots + place for place in range(len(graph.tangents))]
        self.slots += len(graph.tangents)
        shared = [*self._given.values()]
        for operation, memory in lowering.inputs.items():
            buffer = emission.buffers.get(memory)
            if buffer is None:
                continue
            if operation in graph.tangents:
                buffer.slot = self.tangent_slots[graph.tangents.index(operation)]
                if self._is_loss(operation):
                    shared.append(buffer.slot)
            elif operation in self._given:
                buffer.slot = self._given[operation]
            elif operation in self._slot_of:
                buffer.slot = self._slot_of[operation]
                if operation in given_out:
                    shared.append(buffer.slot)
        planner = Planner(emission.graph, self.slots, weighs=self.inductor.weighs_reuse)
        to_the_end = self.tangent_slots if self.inductor.holds_gradients else ()
        self.backward_plan = planner.plan(shared=shared, last=to_the_end)
        self.slots_backward = planner.slots
        self.shared = shared
        self.tangents = graph.tangents
        self.gradient_slots = [
            None if each is None else _slot(lowering, emission, each) for each in graph.gradients
        ]

    def _is_loss(self, tangent: Operation) -> bool:
        return not tangent.shape

    def run(self, arguments: Sequence[Any]) -> Any:
        """One call."""
        device = self.device
        slots: list[Handle] = [0] * self.slots
        for place in self._given.values():
            storage = arguments[place].storage
            assert storage is not None
            slots[place] = storage.handle
        if device.awaits_workspace:
            device.multiply()
        device.tape.play(self.forward_plan, slots)
        storages: dict[int, Storage] = {}
        results = []
        for each, slot in self.results:
            assert slot is not None
            storage = storages.setdefault(slot, Storage(slots[slot], device.tape.events))
            results.append(Tensor(device, storage, each.shape, each.strides, each.dtype, each.role))
        if self.learns:
            self._record(arguments, results, slots, storages)
        return filled(self._pattern, iter(results))

    def _record(
        self,
        arguments: Sequence[Any],
        results: list[Tensor],
        slots: list[Handle],
        storages: dict[int, Storage],
    ) -> None:
        edges = tuple((each.node, 0) for each in self.parameters if each.node is not None)
        outputs = tuple((each.shape, each.dtype, each.role) for each in results)
        shared: dict[int, Any] = {place: arguments[place].storage for place in self._given.values()}
        shared |= {slot: storage for slot, storage in storages.items() if slot in self.shared}
        node = _GraphNode(edges, outputs, next(numbers))
        node.play = partial(self._play, slots, shared)
        for index, each in enumerate(results):
            each.node, each.index = node, index

    def _play(
        self, slots: list[Handle], shared: dict[int, Any], given: list[Tensor | None]
    ) -> list[Tensor | None]:
        device = self.device
        handles = slots + [0] * (self.slots_backward - len(slots))
        for slot, tangent in zip(self.tangent_slots, self.tangents, strict=True):
            each = given.pop(0)
            if each is None:  # nobody differentiates it: zeros
                zeros = role(f"zeros for {tangent.role.label}", tangent.role.component)
                name = zeros.describe(tangent.shape, tangent.dtype)
                handles[slot] = device.tape.alloc(tangent.nbytes, name, zeros.component)
            else:
                assert each.storage is not None
                handles[slot] = each.storage.handle
                shared[slot] = each.storage
                land(each)
            del each
        if device.awaits_workspace:
            device.multiply()
        device.tape.play(self.backward_plan, handles, shared)
        shared.clear()
        return [
            None if slot is None else
            Tensor(device, Storage(handles[slot], device.tape.events), each.shape, each.strides,
                   each.dtype, each.role.gradient)
            for slot, each in zip(self.gradient_slots, self.parameters, strict=True)
        ]  # fmt: skip


class _GraphNode(Node):
    """A compiled graph in the backward pass."""

    __slots__ = ("play",)
    play: Callable[[list[Tensor | None]], list[Tensor | None]]

    def run(self) -> list[Tensor | None]:
        """The parameters' gradients."""
        given, self.gradients = self.gradients, [None] * len(self.gradients)
        if all(each is None for each in given):
            return [None] * len(self.edges)
        return matched(self, self.play(given))


def _base(each: Operation) -> Operation:
    while each.kind == VIEW:
        (each,) = each.of
    return each


def _slot(lowering: Lowering, emission: Emission, each: Operation) -> int:
    buffer: Buffer = emission.buffers[lowering.output(each)]
    return buffer.slot
