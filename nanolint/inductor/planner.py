"""Inductor's memory planning: the place of each buffer of a graph, and when it is freed.

A freed buffer is kept for a later one of the same element type and size. It is taken at once by
the very next node; else only if holding on to it does not raise the graph's estimated peak
(torch/_inductor/codegen/wrapper.py ``AllocateLine``, torch/_inductor/memory.py
``estimate_peak_memory``, 2.13.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.symbolic import entry, is_symbolic, largest
from nanolint.tape.tape import MemoryPlan

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from nanolint.inductor.graph import Buffer, Graph, Node


def lifetimes(nodes: list[Node]) -> None:
    """Note in each buffer which nodes make it and use it last."""
    for index, node in enumerate(nodes):
        for buffer in node.reads:
            buffer.last = index
        for buffer in node.writes:
            buffer.first = index
            buffer.last = index


def estimate(nodes: list[Node], inputs: list[Buffer], *, takes_off: bool = False) -> list[int]:
    """Live bytes at each node, as Inductor estimates them: without workspaces and scratch.

    ``takes_off`` is whether what is handed out is missing from the start.
    """
    change = [0] * (len(nodes) + 1)
    if takes_off:
        change[0] -= sum(each.counted for node in nodes for each in node.writes if each.kept)
    for buffer in inputs:
        change[0] += buffer.counted
        change[buffer.last + 1] -= buffer.counted
    for index, node in enumerate(nodes):
        change[index] += node.hidden
        change[index + 1] -= node.hidden
        for buffer in node.elements:
            change[index] += buffer.counted
        for buffer in node.writes:
            if not buffer.part:
                change[index] += buffer.counted
            if not buffer.kept:
                change[buffer.last + 1] -= buffer.counted
    live = []
    total = 0
    for delta in change[:-1]:
        total += delta
        live.append(total)
    return live


def _hold_wholes(nodes: list[Node]) -> None:
    """A whole is there as long as any of its parts is used."""
    for node in nodes:
        for part in node.reads:
            if part.inside is not None:
                part.inside.last = max(part.inside.last, part.last)


class Planner:
    """Plans one graph. Slots of new buffers are numbered from ``first_slot``.

    ``weighs`` is whether a freed buffer is held only if that does not raise the peak;
    ``takes_off`` is as ``estimate``'s.
    """

    def __init__(
        self, graph: Graph, first_slot: int = 0, *, weighs: bool = True, takes_off: bool = False
    ) -> None:
        self.nodes = graph.nodes
        self.slots = first_slot
        self._made: list[Buffer] = []
        self._events: list[int | None] = []
        self._product: int | None = None  # how many of them lie before the first matrix product
        self._biased: int | None = None  # before the first that adds a bias
        # (element type, bytes) -> freed buffers: (their node, their place in _events, slot)
        self._pool: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        lifetimes(self.nodes)
        self._live = estimate(self.nodes, graph.inputs, takes_off=takes_off)
        self._peak = largest([0, *self._live])
        _hold_wholes(self.nodes)
        self._is_symbolic = is_symbolic(self._peak)
        self._weighs = weighs
        self._given = {id(buffer) for buffer in graph.inputs + graph.arguments}

    def plan(self, shared: Container[int] = (), last: Iterable[int] = ()) -> MemoryPlan:
        """The whole graph's. ``shared`` are slots that others hold, too; ``last`` are arguments
        that the caller holds until the graph is done."""
        for index, node in enumerate(self.nodes):
            self._node(index, node)
        late = [~slot for slot in last]
        marks = []
        for place in (self._product, self._biased):
            ahead = self._events[:place]
            before = sum(event is not None and event not in late for event in ahead)
            marks.append(None if place is None else before)
        events = [event for event in self._events if event is not None and event not in late]
        return MemoryPlan(self._made, [*events, *late], shared, *marks)

    def _node(self, index: int, node: Node) -> None:
        taken: set[int] = set()  # ids of the inputs whose memory an output took over
        inplace = node.inplace
        for place, each in enumerate(node.writes):
            buffer = each.inside or each
            if buffer.part or buffer.virtual or buffer.slot >= 0 or buffer in node.direct:
                continue
            if place < len(inplace):
                for source in inplace[place]:
                    if source.last == index and not source.kept and id(source) not in taken:
                        buffer.slot = source.slot
                        taken.add(id(source))
                        break
            if buffer.slot < 0:
                self._place(index, buffer)
        if node.workspace is not None:
            self._place(index, node.workspace)
        for buffer, passing in zip(node.direct, node.passing, strict=True):
            self._allocate(buffer)
            for each in passing:
                self._allocate(each)
            self._events += [~each.slot for each in reversed(passing)]
        if node.workspace is not None:
            self._release(index, node.workspace)
        for buffer in (*node.scratch[: node.ahead], *node.elements):
            self._allocate(buffer)
        if node.product and self._product is None:
            self._product = len(self._events)
        if node.biased and self._biased is None:
            self._biased = len(self._events)
        made = set(map(id, node.scratch[: node.ahead]))
        for buffer in node.scratch[node.ahead :]:  # each twice: where it is made, and freed
            if id(buffer) in made:
                self._events.append(~buffer.slot)
            else:
                made.add(id(buffer))
                self._allocate(buffer)
        # torch/_inductor/scheduler.py, ``free_buffers``
        used = dict.fromkeys(each.inside or each for each in node.reads + node.writes)
        for buffer in sorted(used, key=lambda each: each.of):
            if buffer.last == index and not buffer.kept and id(buffer) not in taken:
                self._release(index, buffer)

    def _allocate(self, buffer: Buffer) -> None:
        buffer.slot = self.slots
        self.slots += 1
        self._made.append(buffer)
        self._events.append(buffer.slot)

    def _place(self, index: int, buffer: Buffer) -> None:
        key = buffer.dtype, buffer.nbytes
        pool = entry(self._pool, key) if self._is_symbolic else self._pool.get(key)
        if pool:
            freed, event, slot = pool[-1]
            between = self._live[freed + 1 : index]
            most = largest([0, *between])
            if not self._weighs or not between or buffer.nbytes + most <= self._peak:
                pool.pop()
                self._events[event] = None
                buffer.slot = slot
                for held in range(freed + 1, index):
                    self._live[held] += buffer.nbytes
                return
        self._allocate(buffer)

    def _release(self, index: int, buffer: Buffer) -> None:
        if buffer.slot < 0:  # someone else's
            return
        if id(buffer) not in self._given:
            key = (buffer.dtype, buffer.nbytes)
            self._pool.setdefault(key, []).append((index, len(self._events), buffer.slot))
        self._events.append(~buffer.slot)
