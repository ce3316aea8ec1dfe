"""The order of a graph's nodes: Inductor tries three others and keeps the one with the lowest peak.

torch/_inductor/memory.py ``reorder_for_peak_memory``, 2.13.0: the order of lowering, "least peak
memory first", breadth first and depth first, in this order of preference.
"""

from __future__ import annotations

import heapq
from copy import copy
from typing import TYPE_CHECKING

from nanolint.inductor.graph import Graph, Node
from nanolint.tape.symbolic import answer, is_symbolic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.inductor.graph import Buffer


def reorder(graph: Graph, *, takes_off: bool = False) -> None:
    """Put the nodes of ``graph`` into the order with the lowest peak, as ``estimate`` has it."""
    if not graph.nodes:
        return
    nbytes = [each.counted for each in _buffers(graph)] + [each.hidden for each in graph.nodes]
    if any(map(is_symbolic, nbytes)):
        places = answer(_Best(graph, takes_off=takes_off), nbytes)
    else:
        places = _best(_Web(graph, takes_off=takes_off))
    graph.nodes = [graph.nodes[place] for place in places]


def _buffers(graph: Graph) -> list[Buffer]:
    """What the order may follow from, each once."""
    of_nodes = (each for node in graph.nodes for each in node.reads + node.writes + node.elements)
    return list(dict.fromkeys([*graph.inputs, *of_nodes]))


class _Best:
    """The best order of a graph, were the bytes of its buffers, and those hidden, others."""

    def __init__(self, graph: Graph, *, takes_off: bool) -> None:
        copies = {each: copy(each) for each in _buffers(graph)}
        self._buffers = list(copies.values())
        alike = Graph()
        alike.inputs = [copies[each] for each in graph.inputs]
        for node in graph.nodes:
            each = Node(_of(copies, node.reads), _of(copies, node.writes))
            each.elements, each.mutates = _of(copies, node.elements), _of(copies, node.mutates)
            alike.nodes.append(each)
        self._web = _Web(alike, takes_off=takes_off)

    def __call__(self, nbytes: list[int]) -> list[int]:
        for buffer, each in zip(self._buffers, nbytes, strict=False):
            buffer.counted = each
        for node, each in zip(self._web.nodes, nbytes[len(self._buffers) :], strict=True):
            node.hidden = each
        self._web.weigh()
        return _best(self._web)


def _of(copies: dict[Buffer, Buffer], buffers: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
    return tuple(copies[each] for each in buffers)


def _best(web: _Web) -> list[int]:
    """The places of the nodes."""
    best = list(range(len(web.sizes)))
    peak = _peak(web, best)
    least = min(size for size, before in zip(web.sizes, web.before, strict=True) if not before)
    if web.start + web.sizes[0] == peak and web.sizes[0] == least:  # none starts with less
        return best
    for method in (_least_peak, _breadth, _depth):
        places = method(web)
        candidate = _peak(web, places)
        if candidate < peak:
            peak, best = candidate, places
    return best


def _peak(web: _Web, places: Iterable[int]) -> int:
    """The most that is live at once, as ``estimate`` has it."""
    sizes, hidden, reads, writes = web.sizes, web.hidden, web.reads, web.writes
    uses = web.uses.copy()
    live, peak = web.start, 0
    for place in places:
        live += sizes[place]
        peak = max(peak, live)
        live -= hidden[place]
        for buffer in writes[place]:
            if not uses[buffer]:
                live -= buffer.counted
        for buffer in reads[place]:
            uses[buffer] -= 1
            if not uses[buffer]:
                live -= buffer.counted
    return peak


class _Web:
    """Who waits for whom. Nodes are numbered in the order of lowering; ``uses`` are who reads a
    buffer, and one more for who it is handed to; ``start`` is what is live before all."""

    def __init__(self, graph: Graph, *, takes_off: bool) -> None:
        nodes = self.nodes = graph.nodes
        self._takes_off = takes_off
        self.inputs = graph.inputs
        self.readers: dict[Buffer, list[int]] = {each: [] for each in graph.inputs}
        makers: dict[Buffer, list[int]] = {}
        self.before: list[list[int]] = []  # in the order of the reads
        self.after: list[list[int]] = [[] for _ in nodes]
        self.reads: list[list[Buffer]] = []
        self.writes = [node.writes for node in nodes]
        call = -1
        for index, node in enumerate(nodes):
            if node.elements:
                call = index
            for buffer in node.writes:
                makers[buffer] = [index]
                self.readers.setdefault(buffer, [])
            counted = [each for each in dict.fromkeys(node.reads) if each in self.readers]
            before: dict[int, None] = {}
            for buffer in counted:
                self.readers[buffer].append(index)
                before.update(dict.fromkeys(makers.get(buffer, ())))
            if any(buffer.part for buffer in node.writes):
                before[call] = None
            for other in before:
                self.after[other].append(index)
            self.before.append(list(before))
            for buffer in node.mutates:
                makers.setdefault(buffer, []).append(index)
            self.reads.append(counted)
        self.uses = {each: len(readers) + each.kept for each, readers in self.readers.items()}
        self.uses |= {each: len(self.readers[each]) for each in self.inputs}
        self.weigh()

    def weigh(self) -> None:
        """Take the bytes as they are now."""
        self.sizes = [_allocated(node) for node in self.nodes]
        self.hidden = [node.hidden for node in self.nodes]
        self.start = sum([each.counted for each in self.inputs if self.readers[each]])
        if self._takes_off:
            outputs = [each for writes in self.writes for each in writes if each.kept]
            self.start -= sum([each.counted for each in outputs])


def _allocated(node: Node) -> int:
    own = sum([buffer.counted for buffer in node.writes if not buffer.part])
    return own + sum([buffer.counted for buffer in node.elements]) + node.hidden


def _least_peak(web: _Web) -> list[int]:
    """Greedy: what fits under the peak so far and frees most, else what allocates least."""
    uses = {buffer: len(readers) + buffer.kept for buffer, readers in web.readers.items()}
    count = len(web.sizes)
    waiting = [len(before) for before in web.before]
    frees = [
        hidden
        + sum([each.counted for each in reads if uses[each] == 1])
        + sum([each.counted for each in writes if uses[each] == 0])
        for hidden, reads, writes in zip(web.hidden, web.reads, web.writes, strict=True)
    ]
    live = sum(buffer.counted for buffer in web.inputs)
    outputs = sum(buffer.counted for buffer in web.readers if buffer.kept)
    most = max(live, outputs)
    ready = _Ready(web.sizes, frees)
    for index in range(count):
        if not waiting[index]:
            ready.add(index)
    order: list[int] = []
    while len(order) < count:
        chosen = ready.take(most - live)
        order.append(chosen)
        live += web.sizes[chosen]
        most = max(most, live)
        live -= frees[chosen]
        for buffer in web.reads[chosen]:
            uses[buffer] -= 1
            if uses[buffer] == 1:
                for other in web.readers[buffer]:
                    frees[other] += buffer.counted
                    if not waiting[other]:
                        ready.add(other)
        for other in web.after[chosen]:
            waiting[other] -= 1
            if not waiting[other]:
                ready.add(other)
    return order


class _Ready:
    """The nodes that may run next, best first by what they allocate less what they free."""

    def __init__(self, sizes: list[int], frees: list[int]) -> None:
        self._sizes, self._frees = sizes, frees
        self._taken: set[int] = set()
        self._by_growth: list[tuple[int, int]] = []
        self._by_size: list[tuple[int, int, int]] = []

    def add(self, index: int) -> None:
        """A new node, or one that now frees more: its older entries no longer count."""
        if index in self._taken:
            return
        growth = self._sizes[index] - self._frees[index]
        heapq.heappush(self._by_growth, (growth, index))
        heapq.heappush(self._by_size, (self._sizes[index], growth, index))

    def take(self, gap: int) -> int:
        """The best of those that allocate at most ``gap`` bytes, else the one that does least."""
        heap, passed, chosen = self._by_growth, [], -1
        while heap and chosen < 0:
            entry = heapq.heappop(heap)
            growth, index = entry
            if self._counts(growth, index):
                if self._sizes[index] <= gap:
                    chosen = index
                else:
                    passed.append(entry)
        for entry in passed:
            heapq.heappush(heap, entry)
        while chosen < 0:
            _, growth, index = heapq.heappop(self._by_size)
            if self._counts(growth, index):
                chosen = index
        self._taken.add(chosen)
        return chosen

    def _counts(self, growth: int, index: int) -> bool:
        return index not in self._taken and growth == self._sizes[index] - self._frees[index]


def _breadth(web: _Web) -> list[int]:
    """First what waits for what ran first."""
    waiting = [len(before) for before in web.before]
    place = [-1] * len(waiting)
    heap: list[tuple[list[int], int]] = [([], i) for i, n in enumerate(waiting) if not n]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        _, chosen = heapq.heappop(heap)
        place[chosen] = len(order)
        order.append(chosen)
        for other in web.after[chosen]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(heap, (sorted(place[i] for i in web.before[other]), other))
    return order


def _depth(web: _Web) -> list[int]:
    """Each node right after what it needs, the ones that touch least memory first."""
    touched = [
        size + sum([each.counted for each in reads])
        for size, reads in zip(web.sizes, web.reads, strict=True)
    ]
    order: list[int] = []
    seen: set[int] = set()
    by_size = sorted(range(len(touched)), key=lambda index: (touched[index], index))
    rank = {index: place for place, index in enumerate(by_size)}
    for root in by_size:
        stack = [root]
        while stack:
            index = stack[-1]
            if index in seen:
                stack.pop()
                continue
            pending = [other for other in web.before[index] if other not in seen]
            if pending:
                stack.append(min(pending, key=rank.__getitem__))
            else:
                seen.add(index)
                order.append(index)
                stack.pop()
    return order
