"""Which kernels become one: torch/_inductor/scheduler.py and codegen/simd.py, 2.13.0.

Pairs that share memory are fused, those that save most first, until nothing changes. A result that
nobody outside of its kernel reads is then no memory at all.

Which of the pairs that may be launched as one is first: torch/_inductor/choices.py,
``FusionScore``.

The end of a long chain within an operation that is several nodes of PyTorch's graph
(torch/_functorch/partitioners.py, ``ban_if_long_fusible_chains``).

Sums over rows and over columns of the same elements: ``MixOrderReduction`` in
torch/_inductor/scheduler.py.
"""

from __future__ import annotations

from functools import cmp_to_key
from typing import TYPE_CHECKING, NamedTuple

from nanolint.inductor.derive.access import without_quotient
from nanolint.inductor.derive.counting import is_half, uses
from nanolint.inductor.derive.groups import (
    Group,
    copied_in_order,
    fits,
    in_order,
    invert,
    is_contiguous,
    is_split,
    joined,
    makers,
    reads_all,
    steps_by_one,
    waits_for_others,
)
from nanolint.inductor.derive.kernels import SUMS
from nanolint.inductor.derive.loop_reordering import cut_as_sums, shared_in_other_loops
from nanolint.inductor.derive.operations import Operation, Operations
from nanolint.tape.reading_lock import give_way
from nanolint.tape.symbolic import answer
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.ops import registry as ops

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nanolint.inductor.derive.access import Dependency, Memory
    from nanolint.inductor.derive.kernels import Kernel
    from nanolint.inductor.derive.loop_reordering import Reordered
    from nanolint.inductor.inductor import Inductor
    from nanolint.tensors.dtypes import Dtype


class Score(NamedTuple):
    """The gain of launching two kernels as one, as Inductor compares it."""

    saves: bool
    alike: bool
    nbytes: int
    near: int


def _compare(one: Score, other: Score) -> int:
    """Those alike first, unless what is saved differs by far."""
    if one.saves != other.saves:
        return 1 if one.saves else -1
    if max(one.nbytes, other.nbytes) > 16 * min(one.nbytes, other.nbytes):
        return 1 if one.nbytes > other.nbytes else -1
    first, second = one[1:], other[1:]
    return (first > second) - (first < second)


class Ranked:
    """The places of ``scores``, the best first, were their bytes others."""

    def __init__(self, scores: Sequence[Score]) -> None:
        self._scores = scores

    def __call__(self, nbytes: list[int]) -> list[int]:
        pairs = zip(self._scores, nbytes, strict=True)
        scores = [Score(one.saves, one.alike, each, one.near) for one, each in pairs]
        key = cmp_to_key(_compare)
        return sorted(range(len(scores)), key=lambda at: key(scores[at]), reverse=True)


def ends_in_two(each: Operation) -> bool:
    """Whether its last node waits in the queue twice: an activation that reads what it is of more
    than once, and that no cast follows."""
    return not is_half(each.dtype) and any(uses(each, source) > 1 for source in each.of)


def casts_first(each: Operation) -> bool:
    """Whether its first node casts what it reads to float32: an activation in two bytes."""
    if each.all_nodes == 1 or len(each.of) != 1:
        return False
    return is_half(each.dtype) and is_half(each.of[0].dtype)


def cast_apart(graph: Operations, each: Operation) -> None:
    """Make the cast that an activation begins with an operation, which its gradient reads, too."""
    (source,) = each.of
    cast = Operation(ops.CONVERT, (source,), each.shape, each.strides, FLOAT32, source.role)
    cast.region = each.region
    for user in source.users:
        if user is each or user.op is each.op.gradient:
            user.of = tuple(cast if one is source else one for one in user.of)
    each.nodes, each.all_nodes = each.nodes - 1, each.all_nodes - 1
    graph.all.insert(graph.all.index(each), cast)


MIXED_ELEMENTS = 5 << 20
MIXED_ROWS = 4096
MIXED_COLUMNS = 16384
MIXED_READS = 10
MIXED_SUMS = frozenset({ops.SUM, ops.MEAN})  # what divides a sum is another kernel's


def are_mixed(one: Group, other: Group, *, tall: bool) -> bool:
    """Whether both go through the same elements, one by rows and one by columns, and there are so
    many that one kernel for both pays; ``tall`` is whether that is of twice as many rows as columns
    alone."""
    if not (one.sums and other.sums) or one.mixed or other.mixed:
        return False
    if one.ancestors & other.own or other.ancestors & one.own:
        return False
    loops, others = one.loops, other.loops
    if loops != others[::-1] or (tall and loops == others):
        return False
    common = [
        memory
        for memory in one.names & other.names
        if reads_all(one, memory) and reads_all(other, memory)
    ]
    if loops == others:
        common = [each for each in common if steps_by_one(one, each) != steps_by_one(other, each)]
    if not common:
        return False
    if is_contiguous(one):
        rows, columns = one, other
    elif is_contiguous(other):
        rows, columns = other, one
    else:
        return False
    nrow, ncol = rows.loops
    if nrow * ncol < MIXED_ELEMENTS or nrow < MIXED_ROWS or (tall and nrow < 2 * ncol):
        return False
    if ncol > MIXED_COLUMNS or is_split(rows):
        return False
    sums = [each for each in columns.kernels if each.kind == SUMS]
    return all(each.op in MIXED_SUMS for each in sums)


# torch/_inductor/config.py
ROUNDS = 10
PAIRWISE = 64  # max_fusion_buffer_group_pairwise_attempts
LARGEST = 64  # max_fusion_size: kernels in one
LEAST_SHARED = 10  # score_fusion_memory_threshold: bytes
FARTHEST = 64  # scheduler.py, are_long_distant_nodes
HELD = 32  # scheduler.py, can_fusion_increase_peak_memory


def fuse(kernels: Sequence[Kernel], kept: Iterable[Memory], facts: Inductor) -> list[Group]:
    """The launches, in the scheduler's order. ``kept`` is handed out."""
    return _Fusion(kernels, set(kept), facts).run()


class _Fusion:
    def __init__(self, kernels: Sequence[Kernel], kept: set[Memory], facts: Inductor) -> None:
        self.kernels = kernels
        self.facts = facts
        self.merges = not facts.reorders_loops  # from the first round on, and reorders none
        self.reorders = False  # whether loops may be merged and reordered, in the last round
        self.users: dict[Memory, int] = {}
        self.makers = [makers(each) for each in kernels]
        ancestors: list[int] = []
        for each in kernels:
            found = 0
            for memory in dict.fromkeys((*(r.memory for r in each.reads), *each.mutates)):
                self.users[memory] = self.users.get(memory, 0) + 1
            for maker in self.makers[each.number]:
                found |= ancestors[maker] | 1 << maker
            ancestors.append(found)
        # What was written into is handed out by its last name (``mutation_renames``).
        last = {each.storage: each for each in self.users if each.of is not None}
        for memory in [last.get(each, each) for each in kept]:
            self.users[memory] = self.users.get(memory, 0) + 1
        self.groups = [
            Group((each,), found) for each, found in zip(kernels, ancestors, strict=True)
        ]
        self.of: list[Group] = list(self.groups)
        self.is_ordered = False
        self.refused = set[tuple[Group, Group]]()  # pairs, for good: others' ancestors only grow
        self.fused = 0  # bits of the kernels that are launched with others

    def run(self) -> list[Group]:
        for _ in range(ROUNDS):
            before = len(self.groups)
            self._round()
            if len(self.groups) in {before, 1}:
                break
        if not self.merges:
            self.reorders = True
            self.refused.clear()
            self._round()
        if self.facts.keeps_quotients:
            self._drop_quotients()
        return self.groups

    def _drop_quotients(self) -> None:
        """All loops are merged now."""
        for group in self.groups:
            for each in group.kernels:
                each.reads = tuple(map(without_quotient, each.reads))
            group.look()

    def _round(self) -> None:
        give_way()
        pairs = self._pairs()
        scores = [self._score(*pair) for pair in pairs]
        by_score = answer(Ranked(scores), [each.nbytes for each in scores])
        for one, other in [pairs[place] for place in by_score]:
            first, second = self.of[one.first], self.of[other.first]
            if first is second:
                continue
            if self._may_fuse(first, second) and not self._makes_a_circle(first, second):
                self._fuse(first, second)
        groups = dict.fromkeys(self.of)
        if self.is_ordered and len(groups) == len(self.groups):
            return
        self.is_ordered = True
        self.groups = in_order(sorted(groups, key=lambda each: each.first), self.makers)

    def _fuse(self, one: Group, other: Group) -> None:
        fused = joined(one, other)
        fused.is_uneven = one.is_uneven or other.is_uneven
        if one.mixed:
            fused.mixed = self._mixed_with(*one.mixed, other)
        elif self._is_mixed(one, other):
            fused.mixed = (one, other) if is_contiguous(one) else (other, one)
        if fused.mixed:
            fused.kernels = fused.mixed[0].kernels + fused.mixed[1].kernels
            fused.numel, fused.rnumel = fused.mixed[0].numel, fused.mixed[0].rnumel
        for each in fused.kernels:
            self.of[each.number] = fused
        self.fused |= fused.own

    def _mixed_with(self, rows: Group, columns: Group, other: Group) -> tuple[Group, Group]:
        if other.mixed:
            return joined(rows, other.mixed[0]), joined(columns, other.mixed[1])
        if self._part_may_fuse(rows, other, columns):
            return joined(rows, other), columns
        return rows, joined(columns, other)

    def _pairs(self) -> list[tuple[Group, Group]]:
        by_memory: dict[Memory, list[Group]] = {}
        for each in self.groups:
            if not each.is_library:
                for memory in each.by_name:
                    by_memory.setdefault(memory, []).append(each)
        seen = set[tuple[Group, Group]]()
        found = []
        for groups in by_memory.values():
            for place, one in enumerate(groups):
                for other in groups[place + 1 : place + 1 + PAIRWISE]:
                    pair = one, other
                    if pair not in seen and pair not in self.refused:
                        seen.add(pair)
                        if self._may_fuse(one, other):
                            found.append(pair)
                        else:
                            self.refused.add(pair)
        return found

    def _shared(self, one: Group, other: Group) -> int:
        """Bytes that both read or write at the same places."""
        few, many = (one, other) if len(one.deps) <= len(other.deps) else (other, one)
        theirs = many.deps
        if self.merges:
            places = {(each.memory, each.place) for each in theirs}
            return sum([each.nbytes for each in few.deps if (each.memory, each.place) in places])
        return sum([each.nbytes for each in few.deps if each in theirs])

    def _score(self, one: Group, other: Group) -> Score:
        mixed = self._is_mixed(one, other)
        nbytes = one.numel * one.rnumel if mixed else self._shared(one, other)
        near = -max(abs(one.first - other.last), abs(other.first - one.last))
        return Score(nbytes > 0, one.sums == other.sums and nbytes > 0, nbytes, near)

    def _may_fuse(self, one: Group, other: Group, *, mixes: bool = True) -> bool:
        if one.mixed:
            return self._may_join(one, other)
        if other.mixed or one.is_library or other.is_library or other.own & one.ancestors:
            return False
        if one.own & other.ancestors and waits_for_others(one, other, self.of):
            return False
        mixed = mixes and self._is_mixed(one, other)
        shared = one.numel * one.rnumel if mixed else self._shared(one, other)
        cut, moved, saved = None, None, shared
        if mixes and self.reorders and shared < LEAST_SHARED:
            found, moved = shared_in_other_loops(one, other, by_size=self.facts.keeps_tried_orders)
            if moved is not None and self.facts.keeps_tried_orders:
                moved.apply()
                moved, saved = None, found
            if not found and self.facts.cuts_loops:
                cut = cut_as_sums(one, other)
            if cut is not None:
                one, other = cut.one, cut.other
                found, moved = shared_in_other_loops(one, other)
                saved = self._shared(one, other)
                found = found or saved
            shared = found or shared
            if moved is not None:  # merged loops save nothing yet
                saved = shared
        copied = self._copied(one, other) if shared < LEAST_SHARED else 0
        shared = copied or shared
        if not shared or len(one.kernels) + len(other.kernels) > LARGEST:
            return False
        if self._holds_more(one, other, saved):
            return False
        if one.own & other.ancestors:
            may = self._reads_as_written(one, other, moved) and self._fits(one, other, moved)
            if not may and moved is None and cut is None and self.facts.cuts_loops:
                cut = cut_as_sums(one, other)
                may = cut is not None and self._reads_as_written(cut.one, cut.other, None)
        elif mixed:
            may = True
        else:
            far = max(abs(one.first - other.last), abs(other.first - one.last)) > FARTHEST
            may = shared >= LEAST_SHARED and not far and self._fits(one, other, moved)
        if may and copied:
            invert(one, other)
        elif may and moved is not None:
            moved.apply()
        if may and cut is not None:
            cut.apply()
        return may

    def _fits(self, one: Group, other: Group, moved: Reordered | None) -> bool:
        return fits(*(moved.groups if moved else (one, other)), merges=self.merges)

    def _copied(self, one: Group, other: Group) -> int:
        return copied_in_order(one, other) if self.facts.fuses_copies else 0

    def _holds_more(self, one: Group, other: Group, shared: int) -> bool:
        """``can_fusion_increase_peak_memory``: inputs whose memory others could have taken over,
        whose elements are compared with bytes."""
        both = self._passing(one) & self._passing(other)
        return sum([numel for _, numel in both]) > HELD * shared

    def _passing(self, group: Group) -> set[tuple[Dtype, int]]:
        """What memory it alone reads: of which type, and how many elements (``key[2]``)."""
        if group.passing is None:
            group.passing = {
                (read.memory.dtype, read.memory.numel)
                for read in group.reads
                if read.memory.of is not None and self.users.get(read.memory) == 1
            }
        return group.passing

    def _reads_as_written(self, one: Group, other: Group, moved: Reordered | None) -> bool:
        """``can_fuse_vertical``."""
        if one.made & other.mutates:
            return False
        for read in other.reads:
            if read.memory.of is None or read.memory in other.made:
                continue
            if read.memory in one.mutates and read.memory not in one.made:
                return False
            if read.memory in one.made and not self._meets(read, one, other, moved):
                return False
        return True

    def _meets(self, read: Dependency, one: Group, other: Group, moved: Reordered | None) -> bool:
        """Whether a read takes what the same step of the other kernel has written."""
        if self._copied(one, other):
            return True
        if read.tag:
            return False
        return any(
            read.memory is write.memory
            and (read.is_same(write) or (moved is not None and moved.meet(read, write)))
            for write in one.writes
        )

    def _makes_a_circle(self, one: Group, other: Group) -> bool:
        own = one.own | other.own
        ancestors = (one.ancestors | other.ancestors) & ~own
        outside = self.fused & ~ancestors
        seen, unseen = 0, self.fused & ancestors
        while unseen:
            group = self.of[unseen.bit_length() - 1]
            seen |= group.own
            if group.own & outside:
                if own & group.ancestors:
                    return True
                unseen |= group.ancestors & outside
            unseen &= ~seen
        return False

    def _is_mixed(self, one: Group, other: Group) -> bool:
        mixes = self.facts.mixes_sums and one.sums and other.sums
        return mixes and are_mixed(one, other, tall=not self.facts.mixes_flat)

    def _may_join(self, mixed: Group, other: Group) -> bool:
        """``FusedMixOrderReductions.can_fuse_with``."""
        assert mixed.mixed is not None
        reads = {read.memory for each in (*mixed.kernels, *other.kernels) for read in each.reads}
        if len(reads) > MIXED_READS:
            return False
        rows, columns = mixed.mixed
        if other.mixed:
            more_rows, more_columns = other.mixed
            return self._part_may_fuse(rows, more_rows, columns, more_columns) and (
                self._part_may_fuse(columns, more_columns)
            )
        return self._part_may_fuse(rows, other, columns) or self._part_may_fuse(
            columns, other, rows
        )

    def _part_may_fuse(self, part: Group, other: Group, *rest: Group) -> bool:
        if not self._may_fuse(part, other, mixes=False):
            return False
        if is_contiguous(part) and not is_contiguous(other):
            return False
        both = part.own | other.own
        for each in rest:
            if (part.ancestors | other.ancestors) & each.own or each.ancestors & both:
                return False
        if not other.sums:
            return True
        few = sum(each.numel for each in part.deps if each in other.deps)
        return bool(few >= part.numel * part.rnumel)
