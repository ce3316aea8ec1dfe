"""From operations to kernels: torch/_inductor/graph.py ``run_node`` and lowering.py, 2.13.0.

Batched products of one matrix each, as einsum makes them: products of matrices by then
(torch/_inductor/fx_passes/joint_graph.py, ``bmm_to_mm``).
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import (
    Access,
    Box,
    Value,
    again,
    broadcast,
    dependency,
    inlined,
    is_ordered,
    memory_of,
    most_of,
    stepped,
)
from nanolint.inductor.derive.calling import (
    Calling,
    anywhere,
    beside_index,
    from_the_end,
    further,
    looked_up,
    over,
    part_of,
    rows_in_order,
    tagged,
)
from nanolint.inductor.derive.concatenating import Concatenating
from nanolint.inductor.derive.counting import away, is_half, times_made, uses
from nanolint.inductor.derive.kernels import LIBRARY, LOOPS, Kernel
from nanolint.inductor.derive.operations import (
    BIASED,
    CALL,
    GETITEM,
    POINTWISE,
    PUTS,
    RANDOM,
    REDUCTION,
    TAKEN_APART,
    VIEW,
    Operation,
)
from nanolint.inductor.derive.realizing import FIXED_LAYOUT, LOOKED_UP, MOST_ACCUMULATED
from nanolint.inductor.derive.reducing import Reducing
from nanolint.inductor.derive.uneven import APART
from nanolint.tape.reading_lock import give_way
from nanolint.tensors.dtypes import FLOAT32, INT64
from nanolint.tensors.layout import contiguous_strides
from nanolint.tensors.ops import registry as ops

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.inductor.derive.counting import Step
    from nanolint.inductor.derive.operations import Operations
    from nanolint.tensors.layout import Shape, Strides


# Elements that are read at other places than their own, which no strides tell.
TAGGED = frozenset({ops.CAT, ops.FLIP, ops.SCATTER_PART, ops.PAD, ops.REPEAT_PARTS})


class Lowering(Reducing, Calling, Concatenating):
    """Lowers one graph: ``run`` it, then take ``kernels``, and ``values`` by operation."""

    def run(self, operations: Sequence[Operation]) -> None:
        """Lower them, in order."""
        self._find_sums_of_products(operations)
        scattered = [each for each in operations if each.op is ops.SCATTER]
        self._scattered = Counter((each.shape, each.dtype) for each in scattered)
        for each in operations:
            give_way()
            self.values[each] = self._run(each)

    def _run(self, each: Operation) -> Value:
        value = self._lower(each)
        if each.parts:
            return value
        if each in self._dense or (each.kind != VIEW and self._is_in_order(each)):
            value.box.pads = False
        users = self._users.get(each, {})
        is_output = each in self._outputs and not self._waits(each)
        if is_output and not value.box.reads and value.box.memory is None:
            # Computed again by its readers; a number has no strides to ask for, and becomes memory
            # behind all others.
            apart = self._copied(value, each) if each.shape else inlined(each, (), value.steps)
            self._handed[each] = apart.box
            is_output = False
        elif is_output and each.kind == VIEW:
            value = self._shown(value, each)
        elif is_output:
            self._fixed.add(self.realize(value.box))
        if self._count(each, users) + is_output > 1:
            for user in users:
                if user.kind == CALL and user.op not in PUTS | BIASED:
                    self._hint(value.box)
                    if user.op in FIXED_LAYOUT and not _is_laid_out(value):
                        value = self._copied(value, each)
            self._mark_reuse(value.box)
        box = value.box
        if box.memory is None and (len(box.reads) > MOST_ACCUMULATED or box.is_large):
            self._hint(box)
        return value

    def _count(self, each: Operation, users: Iterable[Operation]) -> int:
        """How many nodes of PyTorch's graph read it, where that is asked for: none takes parts
        (``run_node`` asks tensors alone)."""
        if each.op in TAKEN_APART:
            return 0
        half = is_half(each.dtype)  # which is converted first
        count, has_slices = 0, False
        for user in users:
            if user.nodes > 1 and user.kind == VIEW:
                has_slices = True
            else:
                count += 1 if half else uses(user, each)
        return count + has_slices

    def _widened(self, source: Operation, each: Operation) -> Value:
        """An operand that is read more than once: in half precision, as it was converted."""
        value = self._operand(source, each)
        if not is_half(source.dtype) or uses(each, source) == 1 or value.box.memory is not None:
            return value
        reads, strides = tuple(value.loads()), contiguous_strides(value.shape)
        box = Box(value.shape, strides, FLOAT32, source.role, reads, value.steps)
        self._mark_reuse(box)
        return value if box.memory is None else Value(box, value.shape)

    def _shown(self, value: Value, each: Operation) -> Value:
        """A view that is handed out: of memory that lies in order, if it is none before, and copied
        where it does not lie as it was traced (``ExternKernel.require_strides``)."""
        if value.box.memory is None and value.box.reads:
            value.box.strides = contiguous_strides(value.box.shape)
            value.box.made_by = None
        self._fixed.add(self.realize(value.box))
        (access,) = value.loads()
        if access.tag or not is_ordered(each.shape, access.strides, each.strides):
            return self._copied(value, each)
        return value

    def _is_in_order(self, each: Operation) -> bool:
        """Whether its rows never lie apart: as ``_keeps_order``, or a library call that has several
        results asks for the strides that it was traced with (ir.py, ``require_stride_order``)."""
        is_called = each in self._called and each not in self._outputs
        return is_called or self._keeps_order(each)

    def _waits(self, each: Operation) -> bool:
        """Whether an output becomes memory behind all others (graph.py, ``output``): it has no
        strides that ``run_node`` would ask for, and nobody else reads it."""
        return not each.shape and each.kind != VIEW and not self._users.get(each)

    def _lower(self, each: Operation) -> Value:
        if each.kind == VIEW:
            return self._view(each)
        if each.kind == GETITEM:
            return self.values[each]
        if each.kind == REDUCTION:
            return self._reduction(each)
        if each.kind == RANDOM:
            return self._random(each)
        if each.kind == CALL:
            return self._call(each)
        assert each.kind == POINTWISE
        return self._pointwise(each)

    def _operand(self, source: Operation, each: Operation) -> Value:
        """What is read of a source: the memory of one that is handed out and takes nothing, where
        a view of it is read, or it is repeated (``ReinterpretView``); others compute it again."""
        apart = self._handed.get(source)
        if apart is None or apart.memory is None or source.shape == each.shape != ():
            return self.values[source]
        is_seen = each.kind == VIEW or each.op not in TAGGED | LOOKED_UP
        return Value(apart, source.shape) if is_seen else self.values[source]

    def _view(self, each: Operation) -> Value:
        value = self._operand(each.of[0], each)
        if value.box.memory is not None:
            self._fixed.add(value.box.memory)
        if each.op in TAKEN_APART:
            return value
        if each.op is ops.EXPAND and value.shape != each.shape:
            self._repeat(value.box)
        (seen,) = each.of
        if each.op is ops.VIEW and seen.kind != VIEW and value.box.memory is None:
            value.box.pads = seen not in self._dense  # it is no memory yet
        step = (each.op, *each.settings)
        if each.op is ops.VIEW and value.box.memory is None and self._inductor.keeps_quotients:
            step = (*step, APART)
        if each.op is ops.UNFOLD and (value.views or value.box.memory is None):
            step = (*step, APART)  # no strides tell it
        return value.viewed(step, each.shape)

    def _pointwise(self, each: Operation) -> Value:
        if each.op is ops.COPY:
            return self._written_back(each)
        if each.op is ops.MADE_ON_CARD:  # to where it is made
            return self.values[each.of[0]]
        if each.op is ops.TO_CARD:
            return self._moved(each)
        if each.op is ops.SCATTER and self._scattered[each.shape, each.dtype] > 1:
            return self._put(each)  # zeros that several scatter into are not compared
        if each in self._made_by_products:
            return self._sum_of_product(each)
        values = [self._widened(source, each) for source in each.of]
        parts = self._parts(each, values)
        if parts and not self._is_read_anywhere(each, parts):
            return self._joined(each, parts)
        if each.op is ops.REPEAT_PARTS:
            self._mark_reuse(values[0].box)
        self._spread(each, values)
        steps: frozenset[Step] = frozenset({each})
        if each.op in {ops.CAT, ops.SCATTER_PART}:
            steps = steps.union(*self._steps(each, values))
        else:
            steps = steps.union(*[value.steps for value in values])
        reads: dict[Access, int] = {}
        if each.op in LOOKED_UP:
            table, *indices = values
            for index in indices:
                for read in over(index, each):
                    again(reads, read)
            key = *map(looked_up, indices), each.shape, each.settings
            for access in table.loads():
                known = beside_index(access, each)
                if known is None and indices:
                    known = rows_in_order(access, indices[0], each)
                again(reads, known or Access(access.memory, 0, (), (access, key)))
        elif each.op is ops.SCATTER_PART and (part := part_of(each, values[0])):
            for access, times in values[0].counted():
                again(reads, part(access), times)
            for value in values[1:]:
                for access, times in value.counted():
                    again(reads, access, times)
        elif each.op in TAGGED:
            for place, value in enumerate(values):
                for access, times in value.counted():
                    found = anywhere(access, value, each) if each.op is ops.CAT else None
                    if place and each.op is ops.SCATTER_PART:  # what is around the part
                        found = access
                    if each.op is ops.PAD and not access.tag:
                        found = further(access, each)
                    if each.op is ops.FLIP and not access.tag:
                        found = from_the_end(access, each)
                    again(reads, found or self._tagged(access, place, each), times)
        else:
            for place, value in enumerate(values):
                made = times_made(each, place)
                for access, times in value.counted():
                    again(reads, broadcast(access, value.shape, each.shape), times * made)
        result = inlined(each, reads, steps)
        result.box.made_by = each
        result.box.most = most_of(each, [value.box for value in values])
        return result

    def _tagged(self, access: Access, place: int, each: Operation) -> Access:
        found = tagged(access, place, each)
        if each.op is not ops.CAT or self._inductor.steps_through_joined or not found.strides:
            return found
        dim = each.settings[0]
        assert isinstance(dim, int)
        return found._replace(strides=(*found.strides[:dim], 0, *found.strides[dim + 1 :]))

    def _spread(self, each: Operation, values: Sequence[Value]) -> None:
        """Let what is read in more loops than it has become memory, if it does."""
        is_put = each.op is ops.SCATTER_PART and each.settings[0] is ops.SELECT
        if is_put:
            values = values[:1]
        elif each.op in TAGGED | LOOKED_UP:
            return
        for value in values:
            if value.shape != each.shape:
                self._repeat(value.box, is_put=is_put)
                if value.box.memory is not None:
                    self._fixed.add(value.box.memory)

    def _steps(self, each: Operation, values: Sequence[Value]) -> Iterator[frozenset[Step]]:
        """The steps of what it reads: of a part, at the elements of the part."""
        dim = each.settings[0] if each.op is ops.CAT else None
        ahead = 0
        for value in values:
            found = value.steps
            if isinstance(dim, int):
                found = away(found, value.shape, dim, -ahead)
                ahead += value.shape[dim]
            elif each.op is ops.SCATTER_PART and value is values[0]:
                kind, along, start, *_ = each.settings
                if kind is ops.SLICE and isinstance(along, int) and isinstance(start, int):
                    found = away(found, value.shape, along, -start)
            yield found

    def _moved(self, each: Operation) -> Value:
        memory = self._memory(each.shape, each.strides, each.dtype, each.role, pads=False)
        write = dependency(Access(memory, 0, memory.strides), each.shape)
        self._add(Kernel(LIBRARY, (), (write,), prod(each.shape), op=each.op))
        box = Box(each.shape, each.strides, each.dtype, each.role)
        box.memory = memory
        return Value(box, each.shape)

    def _written_back(self, each: Operation) -> Value:
        """A kernel that copies into an input, behind all that reads it
        (``MutationLayoutSHOULDREMOVE.realize_into``)."""
        value, given = (self.values[source] for source in each.of)
        self._hint(value.box)
        memory = memory_of(given)
        order = sorted(range(len(each.shape)), key=lambda dim: -memory.strides[dim])
        loops = tuple(each.shape[dim] for dim in order)
        step = (ops.PERMUTE, *order)
        reads = [
            dependency(stepped(access, step, each.shape, loops), loops) for access in value.loads()
        ]
        kernel = Kernel(LOOPS, reads, (), prod(each.shape), op=each.op)
        kernel.mutates = (memory,)
        kernel.after = tuple(
            other for other in self.kernels if any(read.memory is memory for read in other.reads)
        )
        self._add(kernel)
        return given

    def _random(self, each: Operation) -> Value:
        if each.op is ops.SEEDS:
            box = Box(each.shape, each.strides, INT64, each.role)
            box.memory = self._memory(each.shape, each.strides, INT64, each.role)
            write = dependency(Access(box.memory, 0, each.strides), each.shape)
            self._add(Kernel(LIBRARY, (), (write,), each.numel, op=each.op))
            return Value(box, each.shape)
        if each.op is ops.SEED:
            (place,) = each.settings
            return self.values[each.of[0]].viewed((ops.SELECT, 0, place), ())
        (seed,) = each.of
        memory = self.values[seed].box.memory
        assert memory is not None
        read = Access(memory, each.number, (0,) * len(each.shape))
        value = inlined(each, (read,), frozenset({each}))
        self.realize(value.box)  # lowering.py, ``inductor_random``
        return value


def _is_laid_out(value: Value) -> bool:
    """Whether it is memory, or a view of some that strides tell."""
    return value.box.memory is not None and not any(access.tag for access in value.loads())


def take_apart(graph: Operations) -> None:
    """Put a product of two matrices, seen as a batch, in the place of each batch of one."""
    operations: list[Operation] = []
    old: dict[Operation, Operation] = {}
    for each in graph.all:
        if each.op is not ops.BMM or each.of[0].shape[0] != 1:
            operations.append(each)
            continue
        sides = [_seen(side, side.shape[1:], side.strides[1:], each) for side in each.of]
        made = Operation(
            ops.MM, sides, each.shape[1:], each.strides[1:], each.dtype, each.role
        )  # fmt: skip
        made.region = each.region
        old[each] = _seen(made, each.shape, each.strides, each)
        operations += [*sides, made, old[each]]
    if old:
        graph.all = operations
        graph.replace(old)
        graph.connect()


def _seen(source: Operation, shape: Shape, strides: Strides, of: Operation) -> Operation:
    made = Operation(ops.VIEW, (source,), shape, strides, source.dtype, source.role)
    made.region = of.region
    return made
