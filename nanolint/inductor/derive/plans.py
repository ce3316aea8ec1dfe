"""The memory plans of one traced call: its forward pass and, where it learns, its backward pass."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.inductor.derive.emission import Emission
from nanolint.inductor.derive.fusion import fuse
from nanolint.inductor.derive.joint import by_locality, idle_casts
from nanolint.inductor.derive.lowering import Lowering
from nanolint.inductor.derive.operations import (
    INPUT,
    VIEW,
    Operation,
    Operations,
    base_of,
    bases_of,
    replaced,
)
from nanolint.inductor.derive.partition import Parts, partition
from nanolint.inductor.derive.regions import seeded
from nanolint.inductor.derive.work import flops_of
from nanolint.inductor.order import reorder
from nanolint.inductor.planner import Planner
from nanolint.tape.turns import give_way
from nanolint.tensors.device import NotTraced

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from nanolint.inductor.graph import Buffer, Graph
    from nanolint.inductor.inductor import Inductor
    from nanolint.tape.tape import MemoryPlan
    from nanolint.tensors.asked import Asked
    from nanolint.tensors.device import Device
    from nanolint.tensors.layout import Strides


class Plans(NamedTuple):
    """What a simplified graph allocates and frees, without the graph.

    ``slots`` are how many its forward pass has, and ``slots_backward`` both together. ``results``
    are the slots of its outputs, None where an input is handed out; ``tangents`` and ``gradients``
    those of the backward pass, and ``shared`` those of them that others hold, too.
    """

    forward: MemoryPlan
    slots: int
    results: tuple[int | None, ...]
    backward: MemoryPlan | None = None
    slots_backward: int = 0
    tangents: tuple[int, ...] = ()
    gradients: tuple[int | None, ...] = ()
    gradient_strides: tuple[Strides | None, ...] = ()
    shared: frozenset[int] = frozenset()
    joins_again: bool = False  # parts of sums, in a checkpoint


class Planning:
    """Makes the ``plans`` of a simplified graph.

    ``given`` are the slots of inputs that may end with a call; ``weights`` live through the run.
    ``asked`` is for what the card is asked meanwhile.
    """

    plans: Plans

    def __init__(
        self,
        graph: Operations,
        given: dict[Operation, int],
        weights: Container[Operation],
        device: Device,
        inductor: Inductor,
        asked: Asked,
    ) -> None:
        self._device, self._asked = device, asked
        self._inductor = inductor
        self._given = given
        self._joins_again = False
        if graph.tangents:
            parts = partition(graph, weights, recomputes_far=not self._inductor.saves_log_softmax)
            if not self._inductor.keeps_narrow_casts:  # which leaves casts that change nothing
                parts = _without(idle_casts(graph), graph, parts)
        else:
            order = [each for each in by_locality(graph) if each.kind != INPUT]
            parts = Parts(order, [], [])
        written = {each.of[1] for each in graph.mutations}
        if any(base_of(each) in written for each in parts.saved):
            raise NotTraced("writing into what the backward pass reads")
        self._seeded = seeded(graph, *map(set, parts[:2]), all=inductor.seeds_attention)
        self._plan_forward(graph, parts)
        if graph.tangents:
            self._plan_backward(graph, parts)
        self.plans = self.plans._replace(joins_again=self._joins_again)

    def _lowered(
        self,
        operations: list[Operation],
        inputs: Sequence[Operation],
        outputs: Sequence[Operation],
        *,
        seen: Iterable[Operation],
        lying: Mapping[Operation, Strides],
        **how: Any,
    ) -> tuple[Lowering, Emission]:
        """``seen`` are those of the outputs that the caller of the graph gets."""
        device = self._device
        dense = {base for each in seen for base in bases_of(each)}
        lowering = Lowering(
            operations, inputs, outputs, dense=dense, lying=lying, seeded=self._seeded,
            inductor=self._inductor, asked=self._asked,
        )  # fmt: skip
        lowering.run(operations)
        self._joins_again |= lowering.joins_again
        kept = set()
        for each in outputs:
            memory = lowering.output(each)
            memory.kept = True
            kept.add(memory)
        groups = fuse(lowering.kernels, kept, self._inductor)
        give_way()
        emission = Emission(
            groups, lowering.inputs,
            workspace_bytes=device.passing_workspace_bytes,
            bias_bytes=device.passing_bias_bytes, asked=self._asked,
            counts_mutated=self._inductor.counts_mutated,
            weighs_sums=self._inductor.weighs_sums, **how,
        )  # fmt: skip
        return lowering, emission

    def _planner(self, graph: Graph, first_slot: int) -> Planner:
        give_way()
        facts = self._inductor
        return Planner(
            graph, first_slot, weighs=facts.weighs_reuse, takes_off=facts.takes_off_outputs
        )

    def _plan_forward(self, graph: Operations, parts: Parts) -> None:
        inputs = [each for each in graph.all if each.kind == INPUT]
        outputs = [*graph.outputs, *parts.saved]
        outputs = [each for each in dict.fromkeys(outputs) if base_of(each).kind != INPUT]
        lowering, emission = self._lowered(
            parts.forward, inputs, outputs, seen=graph.outputs, lying={},
            donated=(), freed=set(self._given), counted=(), viewed={},
        )  # fmt: skip
        if self._inductor.reorders:
            reorder(emission.graph, takes_off=self._inductor.takes_off_outputs)
            emission.recount()
        for operation, place in self._given.items():
            memory = lowering.inputs.get(operation)
            if memory is not None and memory in emission.buffers:
                buffer = emission.buffers[memory]
                buffer.slot, buffer.kept = place, True
        first = 1 + max(self._given.values(), default=-1)
        planner = self._planner(emission.graph, first)
        forward = planner.plan()
        forward.flops = flops_of(parts.forward, self._device)
        self._slot_of: dict[Operation, int] = {}
        self._lying: dict[Operation, Strides] = {}
        for each in outputs:
            base, memory = base_of(each), lowering.output(each)
            self._slot_of[base] = _slot(lowering, emission, each)
            if memory.shape == base.shape:
                self._lying[base] = memory.strides
        results = tuple([self._slot_of.get(base_of(each)) for each in graph.outputs])
        self.plans = Plans(forward, planner.slots, results)
        lowering.forget()

    def _plan_backward(self, graph: Operations, parts: Parts) -> None:
        gradients = [each for each in graph.gradients if each is not None]
        bases = dict.fromkeys(base_of(each) for each in parts.saved)
        given_out = {base_of(each) for each in graph.outputs}
        freed = {each for each in bases if each.kind != INPUT or each in self._given}
        counted = {each for each in freed if each.kind != INPUT}
        times = Counter(map(base_of, parts.saved))
        single = {base_of(each) for each in parts.saved if each.kind != VIEW} | {
            base for base in bases if times[base] == 1
        }
        lowering, emission = self._lowered(
            parts.backward, [*parts.saved, *graph.tangents], gradients,
            seen=gradients, lying=self._lying,
            donated=(counted & single) - given_out,
            freed=freed | set(graph.tangents),
            counted=counted | set(graph.tangents if self._inductor.counts_tangents else ()),
            viewed={
                base_of(each): base_of(each) in parts.saved
                for each in parts.saved
                if each.kind == VIEW and base_of(each).kind == INPUT
            },
        )  # fmt: skip
        if self._inductor.reorders:
            reorder(emission.graph, takes_off=self._inductor.takes_off_outputs)
            emission.recount()
        slots = self.plans.slots
        tangents = [slots + place for place in range(len(graph.tangents))]
        slots += len(tangents)
        shared: list[int] = []
        for operation, memory in lowering.inputs.items():
            buffer = emission.buffers.get(memory)
            if buffer is None:
                continue
            if operation in graph.tangents:
                buffer.slot = tangents[graph.tangents.index(operation)]
                shared.append(buffer.slot)
            elif operation in self._given:
                buffer.slot = self._given[operation]
                shared.append(buffer.slot)
            elif operation in self._slot_of:
                buffer.slot = self._slot_of[operation]
                if operation in given_out:
                    shared.append(buffer.slot)
        planner = self._planner(emission.graph, slots)
        to_the_end = tangents if self._inductor.holds_gradients else ()
        backward = planner.plan(shared=shared, last=to_the_end)
        backward.flops = flops_of(parts.backward, self._device)
        made = graph.gradients
        self.plans = self.plans._replace(
            slots=slots, backward=backward, slots_backward=planner.slots,
            tangents=tuple(tangents), shared=frozenset(shared),
            gradients=tuple(
                [None if each is None else _slot(lowering, emission, each) for each in made]
            ),
            gradient_strides=tuple([None if each is None else each.strides for each in made]),
        )  # fmt: skip
        lowering.forget()


def _without(old: dict[Operation, Operation], graph: Operations, parts: Parts) -> Parts:
    """The parts of a graph without what changes nothing."""
    if not old:
        return parts
    graph.replace(old)
    forward, backward = ([each for each in part if each not in old] for part in parts[:2])
    saved = dict.fromkeys([replaced(each, old) for each in parts.saved])
    return Parts(forward, backward, [*saved])


def _slot(lowering: Lowering, emission: Emission, each: Operation) -> int:
    memory = lowering.output(each)
    if memory not in emission.buffers:  # no kernel reads or writes it
        raise NotTraced("handing on a gradient")
    buffer: Buffer = emission.buffers[memory]
    return buffer.slot
