"""The cut of the joint graph: which results the forward pass keeps for the backward pass.

torch/_functorch/partitioners.py, ``min_cut_rematerialization_partition``, 2.13.0: a minimal cut
over bytes, weighed by the distance from the backward pass, in which some results may not be
computed again.

A minimal cut of a small network: Dinic's method.

Of all minimal cuts the one nearest to the sink, as networkx finds it for PyTorch's partitioner:
a vertex lies on the sink's side if it can still send something there.

Activation checkpointing in a graph: the backward pass makes the results of a region again.

torch/_higher_order_ops/wrap.py marks what is traced inside; the partitioner may save none of it but
what a later region reads (torch/_functorch/partitioners.py, ``cleanup_recompute_tags``).
"""

from __future__ import annotations

import heapq
from itertools import accumulate
from math import trunc
from typing import TYPE_CHECKING, NamedTuple

from nanolint.inductor.derive.fusion import cast_apart, casts_first, ends_in_two
from nanolint.inductor.derive.operations import (
    DRAWS,
    GETITEM,
    INPUT,
    PLACES,
    POINTWISE,
    REDUCTION,
    TAKEN_APART,
    VIEW,
    WITH_PLACES,
    Operation,
    Operations,
)
from nanolint.tape.reading_lock import give_way
from nanolint.tensors.ops import registry as ops

if TYPE_CHECKING:
    from collections.abc import Container, Iterable


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

        Raises ValueError if no cut has a finite capacity.
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


# Tagged ``nondeterministic_seeded``.
SEEDED = frozenset({ops.FLASH, ops.EFFICIENT, ops.CUDNN})


def made_again(graph: Operations) -> set[Operation]:
    """Returns the operations that the partitioner must compute again."""
    marked = {each for each in graph.all if each.region}
    return {
        each
        for each in marked
        if not any(user in marked and user.region > each.region for user in each.users)
    }


def seeded(
    graph: Operations, forward: Container[Operation], backward: Container[Operation], *, all: bool
) -> set[Operation]:
    """Attention that is run with a random state, to draw the same when it is made again
    (partitioners.py, ``functionalize_rng_ops``): what has dropout, or ``all``."""
    return {
        each
        for each in made_again(graph)
        if each.op in SEEDED and each in forward and each in backward
        if all or DRAWS in each.settings
    }


def share_seeds(graph: Operations) -> None:
    """Make the seeds of all random numbers at once, outside of the regions, which may draw some
    again (torch/_inductor/fx_passes/replace_random.py, ``fuse_seed_creation_pass``)."""
    seeds = [each for each in graph.all if each.op is ops.SEED]
    if not seeds:
        return
    first = seeds[0]
    made = Operation(ops.SEEDS, (), (len(seeds),), (1,), first.dtype, first.role)
    graph.all.insert(graph.all.index(first), made)
    for place, each in enumerate(seeds):
        each.of, each.settings = (made,), (place,)
    graph.connect()


LONGEST_CHAIN = 100  # operations
FAR = 1_000_000_000
NEAREST, FARTHEST = 1, 100  # distances that weigh differently
FARTHEST_RECOMPUTED = 3  # torch/_functorch/config.py, max_dist_from_bw, of releases before 2.4
GROWTH = 1.1  # a step away from the backward pass

# Not in the partitioner's list of what may be computed again.
KEPT = TAKEN_APART | {
    *(ops.EMBEDDING, ops.TO_CARD, ops.MADE_ON_CARD, ops.SCATTER, ops.SCATTER_PART, ops.CAT),
    *(ops.PAD, ops.FLIP, ops.CUMSUM, ops.PROD, ops.UNFOLD, ops.DIAGONAL, ops.REPEAT),
    *(ops.REPEAT_PARTS, ops.COPY),
}


class Parts(NamedTuple):
    """The two graphs: operations in the order in which Inductor lowers them."""

    forward: list[Operation]
    backward: list[Operation]
    saved: list[Operation]


def partition(
    graph: Operations, parameters: Container[Operation], *, recomputes_far: bool = True
) -> Parts:
    """Cut a simplified joint graph. ``parameters`` live through the run anyway.

    Without ``recomputes_far`` nothing is computed again that is far from the backward pass, and
    the backward pass is in the order in which it was traced: releases before 2.4.
    """
    found = _Partition(graph, parameters, recomputes_far=recomputes_far)
    parts = found.parts()
    if not found.cast_first:
        return parts
    for each in found.cast_first:
        cast_apart(graph, each)
    graph.connect()
    return partition(graph, parameters, recomputes_far=recomputes_far)


class _Partition:
    def __init__(
        self, graph: Operations, parameters: Container[Operation], *, recomputes_far: bool
    ) -> None:
        self.graph = graph
        self.recomputes_far = recomputes_far
        self.parameters = parameters
        self.banned: set[Operation] = set()
        self.cast_first: list[Operation] = []  # whose cast of what they read ends a long chain
        self.again = made_again(graph)
        self.fusible = {each for each in graph.all if self._is_recomputable(each)}
        self.handed = {*graph.outputs, *graph.gradients}  # to the joint graph's output, no kernel
        tangents = graph.tangents
        self.closure = _reached(tangents)  # what follows from the gradients of the outputs
        self.needed_backward = self.closure | {g for g in graph.gradients if g is not None}
        given = [each for each in graph.all if each.kind == INPUT and each not in set(tangents)]
        self.inputs = given
        self.forward = _needed(self._wanted, set(given))
        self.forward |= {each for each in graph.all if self._is_made_beside(each)}
        order = sorted((each for each in graph.all if each in self.forward), key=_is_operation)
        places = accumulate(each.all_nodes for each in order)
        self.place = dict(zip(order, places, strict=True))  # of its last node
        self.distance = self._distances()

    def _distances(self) -> dict[Operation, int]:
        distance: dict[Operation, int] = {}
        for each in reversed(self.graph.all):
            if each not in self.forward:
                distance[each] = 0
            else:
                distance[each] = min([FAR, *(distance[user] + user.nodes for user in each.users)])
        return distance

    def _is_made_beside(self, each: Operation) -> bool:
        """Whether it is where the largest elements are, or the smallest, which ``aten.max.dim`` and
        ``aten.min.dim`` make with these."""
        return WITH_PLACES in each.settings and any(
            PLACES.get(user.op) is each.op and user.settings == each.settings
            for user in each.of[0].users
            if user in self.forward
        )

    @property
    def _wanted(self) -> list[Operation]:
        """What the forward pass is there for."""
        return [*self.graph.outputs, *self.graph.asserts, *self.graph.mutations]

    def parts(self) -> Parts:
        """The two graphs."""
        saved = self._saved()
        inputs = set(self.inputs)
        forward = _needed([*self._wanted, *saved], inputs)
        backward = _needed(
            [each for each in self.graph.gradients if each is not None],
            set(saved) | set(self.graph.tangents),
        )
        order = self.graph.all
        return Parts(
            [each for each in order if each in forward and each not in inputs],
            _as_autograd(order, backward, set(saved), self.graph),
            saved,
        )

    def _saved(self) -> list[Operation]:
        operations = self.graph.all
        network = Network(2 * len(operations) + 2)
        source, sink = 2 * len(operations), 2 * len(operations) + 1
        for each in operations:
            enter, leave = 2 * each.number, 2 * each.number + 1
            if each in self.needed_backward:
                if each in self.closure:
                    network.edge(enter, sink, UNLIMITED)
                    continue
                network.edge(leave, sink, UNLIMITED)
            if each in self.again:
                network.edge(enter, sink, UNLIMITED)
                continue
            if each.kind == INPUT or (each in self.forward and self._is_kept(each)):
                self._ban(each)
            network.edge(enter, leave, self._weight(each))
            for user in each.users:
                network.edge(leave, 2 * user.number, UNLIMITED)
        if self.recomputes_far:
            self._ban_uses_far_apart()
            self._ban_long_chains()
        for each in self.banned:
            network.edge(source, 2 * each.number, UNLIMITED)
        side = network.cut(source, sink)
        return [
            each for each in operations if side[2 * each.number] and not side[2 * each.number + 1]
        ]

    def _ban(self, each: Operation) -> None:
        if not _is_view(each) and each not in self.again:
            self.banned.add(each)

    def _weight(self, each: Operation) -> int:
        if each.parts or each.op in TAKEN_APART:
            return UNLIMITED
        if each in self.parameters:
            return 0
        steps = max(min(self.distance[each], FARTHEST), NEAREST)
        nbytes = trunc(each.nbytes * GROWTH**steps)
        handed = each.kind == INPUT or each in self.handed
        materialized = handed or not all(self._is_fusible(each, user) for user in each.users)
        return nbytes if materialized else 2 * nbytes

    def _is_kept(self, each: Operation) -> bool:
        """``should_ban_recomputation``. What is compared to itself is counted twice."""
        if each.kind == GETITEM:
            return False
        if each.region and each not in self.again:
            return True
        if not self._is_recomputable(each) or self._is_materialized_backward(each):
            return True
        if not self.recomputes_far and self.distance[each] > FARTHEST_RECOMPUTED:
            return True
        sources = each.of[:1] if each.op is ops.INDEX else each.of  # indices are in a list
        return 4 * each.nbytes < sum(source.nbytes for source in sources)

    def _is_recomputable(self, each: Operation) -> bool:
        """Whether it is on the partitioner's list."""
        if each.kind in {VIEW, GETITEM, POINTWISE, REDUCTION}:
            return each.op not in KEPT and (self.recomputes_far or each.op is not ops.GATHER)
        return False

    def _is_fusible(self, one: Operation, other: Operation) -> bool:
        """Whether the partitioner takes them for one kernel."""
        return other.op is ops.CAT or (one in self.fusible and other in self.fusible)

    def _is_materialized_backward(self, each: Operation) -> bool:
        if _is_view(each):
            return False
        unseen = [each]
        while unseen:
            current = unseen.pop()
            if current in self.handed:
                return True
            for user in current.users:
                if user not in self.forward and not self._is_fusible(current, user):
                    return True
                if _is_view(user):
                    unseen.append(user)
        return False

    def _ban_uses_far_apart(self) -> None:
        """A result that is used again behind something that cannot be fused."""
        place = self.place
        for used in (each for each in self.graph.all if each in self.forward):
            users = [user for user in used.users if user in place]
            if not users:
                continue
            first = self._first_unfusible(users, max(place[user] for user in users))
            for user in users:
                if place[user] > first and self._is_fusible(used, user):
                    self._ban(user)

    def _first_unfusible(self, users: Iterable[Operation], most: int) -> int:
        place = self.place
        queue = [(place[user], True, user.number) for user in users]
        heapq.heapify(queue)
        seen = set(queue)
        operations = self.graph.all
        while queue:
            at, fusible, number = heapq.heappop(queue)
            if not fusible:
                return at
            each = operations[number]
            for user in each.users:
                if user in place and place[user] <= most:
                    entry = place[user], self._is_fusible(each, user), user.number
                    if entry not in seen:
                        seen.add(entry)
                        heapq.heappush(queue, entry)
        return most

    def _ban_long_chains(self) -> None:
        """One result in each chain of more than a hundred operations that could all be fused."""
        place, visited = self.place, set[Operation]()
        for start in (each for each in self.graph.all if each in self.forward):
            queue = [(place[start], start.number)]
            while queue:
                at, number = heapq.heappop(queue)
                each = self.graph.all[number]
                if each in visited:
                    continue
                visited.add(each)
                far = place[start] + LONGEST_CHAIN
                if at > far and not queue and not ends_in_two(each):
                    if at - each.all_nodes + 1 > far and casts_first(each):
                        self.cast_first.append(each)
                    self._ban(each)
                    break
                for user in each.users:
                    if user in place and self._is_fusible(each, user) and user not in self.banned:
                        heapq.heappush(queue, (place[user], user.number))


def _is_view(each: Operation) -> bool:
    """``view_ops``."""
    return each.kind == VIEW and each.op not in KEPT


def _is_operation(each: Operation) -> bool:
    return each.kind != INPUT


def _reached(starts: Iterable[Operation]) -> set[Operation]:
    found = set(starts)
    unseen = [*found]
    while unseen:
        for user in unseen.pop().users:
            if user not in found:
                found.add(user)
                unseen.append(user)
    return found


def _needed(wanted: Iterable[Operation], given: set[Operation]) -> set[Operation]:
    """What has to be computed, with the given results that it is computed from."""
    found = set[Operation]()
    unseen = [*wanted]
    while unseen:
        each = unseen.pop()
        if each in found:
            continue
        found.add(each)
        if each not in given:
            unseen.extend(each.of)
    return found


def _as_autograd(
    order: list[Operation], needed: set[Operation], saved: set[Operation], graph: Operations
) -> list[Operation]:
    """The backward pass in the order of autograd's engine, with what it computes again just before
    it is used (``reordering_to_mimic_autograd_engine``)."""
    given = saved | set(graph.tangents) | {each for each in order if each.kind == INPUT}
    rest = [each for each in order if each in needed and each not in given]
    tangents = set(graph.tangents)
    first = next((place for place, each in enumerate(rest) if tangents & set(each.of)), None)
    if first is None:
        return rest
    found: dict[Operation, None] = {}
    for each in rest[first:]:
        wanted: dict[Operation, None] = {}
        unseen = [each]
        while unseen:
            current = unseen.pop()
            if current in wanted or current in found or current in given:
                continue
            wanted[current] = None
            unseen.extend(current.of)
        for one in sorted(wanted, key=lambda it: it.number):
            found[one] = None
    return [*found]
