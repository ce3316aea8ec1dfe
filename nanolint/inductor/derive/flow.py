"""A minimal cut of a small network: Dinic's method.

Of all minimal cuts the one nearest to the sink, as networkx finds it for PyTorch's partitioner:
a vertex lies on the sink's side where it can still send something there.
"""

from __future__ import annotations

from nanolint.tape.turns import give_way

UNLIMITED = 1 << 62


class Network:
    """Vertices are numbers from 0."""

    def __init__(self, vertices: int) -> None:
        self._out: list[list[int]] = [[] for _ in range(vertices)]
        self._to: list[int] = []
        self._rest: list[int] = []  # what an edge can still carry; its twin is at ``edge ^ 1``

    def edge(self, start: int, end: int, capacity: int) -> None:
        """Add an edge."""
        number = len(self._to)
        self._out[start].append(number)
        self._out[end].append(number + 1)
        self._to += end, start
        self._rest += capacity, 0

    def cut(self, source: int, sink: int) -> list[bool]:
        """For each vertex whether it lies on the source's side.

        Raises ValueError where no cut has a finite capacity.
        """
        total = 0
        while True:
            give_way()
            levels = self._levels(source, sink)
            if levels[source] < 0:
                break
            total += self._block(source, sink, levels)
            if total >= UNLIMITED:
                raise ValueError("no finite cut")
        return self._sides(sink)

    def _levels(self, source: int, sink: int) -> list[int]:
        """How far each vertex is from the sink, -1 where it does not reach it: from there on, so
        that no way is tried that leads nowhere."""
        out, to, rest = self._out, self._to, self._rest
        levels = [-1] * len(out)
        levels[sink] = 0
        queue = [sink]
        for here in queue:  # which grows
            level = levels[here] + 1
            for edge in out[here]:
                there = to[edge]
                if levels[there] < 0 and rest[edge ^ 1]:
                    levels[there] = level
                    if there == source:
                        return levels
                    queue.append(there)
        return levels

    def _block(self, source: int, sink: int, levels: list[int]) -> int:
        """Send as much as goes along edges to the next level."""
        out, to, rest = self._out, self._to, self._rest
        place = [0] * len(out)
        sent = 0
        path: list[int] = []
        here = source
        while True:
            if here == sink:
                most = min(rest[edge] for edge in path)
                sent += most
                first = len(path)
                for index in range(len(path) - 1, -1, -1):
                    edge = path[index]
                    rest[edge] -= most
                    rest[edge ^ 1] += most
                    if not rest[edge]:
                        first = index
                here = to[path[first] ^ 1]
                del path[first:]
                continue
            edges, level = out[here], levels[here] - 1
            for at in range(place[here], len(edges)):
                edge = edges[at]
                if levels[to[edge]] == level and rest[edge]:
                    place[here] = at
                    path.append(edge)
                    here = to[edge]
                    break
            else:
                if not path:
                    return sent
                place[here] = len(edges)
                here = to[path.pop() ^ 1]
                place[here] += 1

    def _sides(self, sink: int) -> list[bool]:
        """Whether a vertex cannot reach the sink any more."""
        side = [True] * len(self._out)
        side[sink] = False
        unseen = [sink]
        while unseen:
            for edge in self._out[unseen.pop()]:
                there = self._to[edge]
                if self._rest[edge ^ 1] and side[there]:
                    side[there] = False
                    unseen.append(there)
        return side
