"""The memory plans of one traced call: its forward pass and, if it learns, its backward pass.

The plans of a graph, looked for among those of graphs that were the same.

Another value of a script seldom changes what is compiled, and to plan its graphs takes four tenths
of a reading. What plans follow from is all in ``_content``, except what the card is asked
meanwhile.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from marshal import dumps
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.inductor.derive.concatenating import JOINED_AGAIN
from nanolint.inductor.derive.counting import flops_of
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
from nanolint.inductor.derive.partition import Parts, partition, seeded
from nanolint.inductor.order import reorder
from nanolint.inductor.planner import Planner
from nanolint.tape.lasting import hold_newest
from nanolint.tape.reading_lock import give_way
from nanolint.tape.symbolic import is_symbolic
from nanolint.tensors.device import NotTraced
from nanolint.tensors.dtypes import Dtype
from nanolint.tensors.ops.registry import Op
from nanolint.tensors.role import PlacedRole

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from nanolint.inductor.graph import Buffer, Graph
    from nanolint.inductor.inductor import Inductor
    from nanolint.tape.tape import MemoryPlan
    from nanolint.tensors.device import Asked, Device
    from nanolint.tensors.layout import Strides
    from nanolint.tensors.role import Role


class Plans(NamedTuple):
    """The allocations and releases of a simplified graph, without the graph.

    ``slots`` are how many its forward pass has, and ``slots_backward`` both together. ``results``
    are the slots of its outputs, None if an input is handed out; ``tangents`` and ``gradients``
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


MOST_KNOWN = 64
WITHOUT_REFERENCES = 2  # of marshal: what is equal is written alike


class _Known(NamedTuple):
    """Plans, and what the card was asked for them."""

    plans: Plans
    asked: Asked


_known: dict[bytes, _Known] = {}  # what was of use last comes last


def planned(
    graph: Operations,
    given: dict[Operation, int],
    weights: Container[Operation],
    device: Device,
    inductor: Inductor,
) -> Plans:
    """Returns the allocations and releases of a simplified graph; see ``Planning``. Takes casts
    that change nothing out of it, if PyTorch does so."""
    give_way()
    content = _content(graph, given, weights, device, inductor)
    give_way()
    known = None if content is None else _known.get(content)
    if known is None or not device.asked.agrees(known.asked):
        asked = device.asked.elsewhere()
        known = _Known(Planning(graph, given, weights, device, inductor, asked).plans, asked)
        device.asked.take(asked)
    elif graph.tangents and not inductor.keeps_narrow_casts:
        graph.replace(idle_casts(graph))
    if content is not None:
        hold_newest(_known, content, known, MOST_KNOWN)
    if known.plans.joins_again:
        device.tape.assume(JOINED_AGAIN)
    return known.plans


def _content(
    graph: Operations,
    given: dict[Operation, int],
    weights: Container[Operation],
    device: Device,
    inductor: Inductor,
) -> bytes | None:
    """What a graph has in common with those whose plans are the same. None where sizes are
    symbolic, and in the first reading of a process, after which most have no other."""
    inputs = [each.shape for each in graph.all if each.kind == INPUT]
    if device.asked.is_first or is_symbolic(tuple(inputs)):
        return None
    facts = device.passing_workspace_bytes, device.passing_bias_bytes, repr(inductor)
    kinds = sorted({(each.dtype.name, device.kind_of(each.dtype)) for each in graph.all})
    try:
        told = dumps((*_told(graph, given, weights), facts, kinds), WITHOUT_REFERENCES)
    except (KeyError, ValueError):  # an operation of another graph, or a symbolic size
        return None
    return blake2b(told).digest()


def _told(
    graph: Operations, given: dict[Operation, int], weights: Container[Operation]
) -> tuple[Any, ...]:
    places = {each: place for place, each in enumerate(graph.all)}
    place_of = places.__getitem__
    roles = {each.role: place for place, each in enumerate(graph.all)}
    unread = [it for each in graph.all for it in each.parts if it not in places]
    rows = [
        (
            each.op.aten, [*map(place_of, each.of)], each.shape, each.strides,
            each.dtype.name, roles[each.role], each.settings and _settings(each.settings),
            each.cost, each.numbers and _settings(each.numbers), each.nodes, each.all_nodes,
            each.parts and [places.get(it, -1) for it in each.parts], each.scratch, each.ahead,
            each.region, given.get(each, -1), each in weights,
        )
        for each in graph.all
    ]  # fmt: skip
    return (
        rows, [_role(each) for each in roles],
        [(each.shape, each.strides, each.dtype.name, _role(each.role)) for each in unread],
        [*map(place_of, graph.outputs)], [each and place_of(each) for each in graph.gradients],
        [*map(place_of, graph.tangents)], graph.learning,
        [*map(place_of, graph.mutations)], [*map(place_of, graph.asserts)],
    )  # fmt: skip


def _role(of: Role) -> Any:
    where = of.where if isinstance(of, PlacedRole) else None
    placed = where and ([*map(tuple, where.stack)], where.call)
    return of.label, of.component.value, of.dims, placed


def _settings(settings: Iterable[Any]) -> Any:
    return [_setting(each) for each in settings]


def _setting(setting: Any) -> Any:
    if isinstance(setting, tuple):
        return _settings(setting)
    if isinstance(setting, float):
        return float(setting)  # which a number that is watched notes
    if isinstance(setting, Op):
        return setting.aten
    return ("dtype", setting.name) if isinstance(setting, Dtype) else setting
