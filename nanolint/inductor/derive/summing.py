"""How a reduction is launched: at once or in steps (torch/_inductor/ir.py, ``Reduction``).

What the parts of a sum that is split read and write (torch/_inductor/ir.py,
``_multilayer_wrap_loader``).

Into how many parts Inductor splits a sum (torch/_inductor/choices.py, 2.13.0).

The rows that a sum of everything is split by: those of the reductions before it
(torch/_inductor/dependencies.py, ``extract_input_node_reduction_ranges``).
"""

from __future__ import annotations

from itertools import product as combinations
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from nanolint.inductor.derive.access import (
    SPLIT,
    Access,
    Box,
    again,
    dependency,
    dependency_on,
    lying_as,
    outwards,
    stepped,
)
from nanolint.inductor.derive.calling import at_place
from nanolint.inductor.derive.counting import unrolled
from nanolint.inductor.derive.kernels import LIBRARY, SUMS, Kernel
from nanolint.inductor.derive.loop_reordering import CUT, parts_of
from nanolint.inductor.derive.operations import VIEW, base_of
from nanolint.inductor.derive.realizing import Realizing
from nanolint.inductor.derive.uneven import merged, strides_through
from nanolint.inductor.graph import column_sum_splits, nearest_divisor
from nanolint.tensors.device import NotTraced
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.layout import contiguous_strides
from nanolint.tensors.ops import registry as ops

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nanolint.inductor.derive.access import Dependency, Memory, Value
    from nanolint.inductor.derive.operations import Operation
    from nanolint.tensors.device import Card
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role


def in_one(read: Dependency, kept: Shape) -> tuple[tuple[int, int], ...]:
    """The loops of a read that is split: those that are reduced are one if they lie in order
    (ir.py, ``_multilayer_wrap_loader``: one index, divided again if that does not cancel)."""
    outer = sum(size != 1 for size in kept)
    return read.loops[:outer] + merged(read.loops[outer:])


def in_order(access: Access, shape: Shape, order: Sequence[int]) -> Dependency:
    """An access in loops of this order."""
    loops = tuple(shape[dim] for dim in order)
    return dependency(stepped(access, (ops.PERMUTE, *order), shape, loops), loops)


def in_parts(read: Dependency, shape: Shape, block: int, order: Sequence[int]) -> Dependency | None:
    """How the parts of a sum read, each going on where the one before has ended: in loops over the
    results in this order, and over a part. None if one loop is not all that a part goes through,
    except for parts of one sum of everything (``loop_reordering.py`` has such loops of elementwise
    kernels).
    """
    *kept, splits = shape
    loops = iter(read.loops)
    found: list[tuple[int, int] | None] = [
        None if size == 1 else next(loops, None) for size in kept
    ]
    parts = None if read.tag else parts_of(tuple(loops), splits, block)
    if parts is None:
        return None
    is_everything = found == [None] * len(kept) and all(step for part in parts for _, step in part)
    if is_everything and max(map(len, parts)) > 1:
        return dependency_on(read.memory, read.offset, (), (CUT, *parts), read.numel)
    if list(map(len, parts)) != [1, 1]:
        return None
    (split,), (inner,) = parts
    if not (split[1] and inner[1]):
        return None
    found.append(split)
    each = [found[dim] for dim in order]
    return dependency_on(
        read.memory, read.offset, (*[loop for loop in each if loop is not None], inner), ()
    )


def in_views(read: Access, kept: Shape, gone: Shape, parts: Shape) -> Access | None:
    """A read that goes through views, in loops over the parts of each sum and over the elements of
    a part, if strides tell of all these."""
    if not read.tag or prod(parts) != prod(gone):
        return None
    found = stepped(read, (ops.VIEW,), (*kept, *gone), (*kept, *parts))
    told = strides_through(found.tag) if found.tag else found.strides
    return None if told is None else Access(read.memory, read.offset, told)


def parts_read(read: Access, kept: Shape, gone: Shape, splits: int, block: int) -> Access:
    """A read in loops over the parts of each sum and over the elements of a part; if the last
    part is shorter, how far it goes in the first steps."""
    shape = (*kept, splits, block)
    if splits * block == prod(gone):
        return stepped(read, (ops.VIEW,), (*kept, *gone), shape)
    tag = (*(read.tag or (read.strides, (*kept, *gone))), SPLIT, splits, repeats(read, gone))
    part = stepped_by(block, read, kept, gone)
    if part is None:
        return Access(read.memory, read.offset, (), tag)
    inner = [step for step, size in zip(read.strides[len(kept) :], gone, strict=True) if size != 1]
    depends = read.depends
    along = None
    if depends is not None:
        is_read = any(depends[len(kept) :])
        along = (*depends[: len(kept)], is_read, is_read)
    return Access(read.memory, read.offset, (*part.strides, inner[-1]), tag, along)


def stepped_by(block: int, read: Access, kept: Shape, gone: Shape) -> Access | None:
    """Returns the steps of a read from sum to sum, and from part to part, if they are known."""
    if len(read.strides) != len(kept) + len(gone):
        return None
    steps = zip(contiguous_strides(gone), gone, read.strides[len(kept) :], strict=True)
    part = sum(block // step % size * stride for step, size, stride in steps)
    return read._replace(strides=(*read.strides[: len(kept)], part))


def repeats(read: Access, gone: Shape) -> int:
    """How often the loops that are reduced, made one, read the same element."""
    strides = read.strides[-len(gone) :]
    if read.tag or not any(strides):
        return 1
    return prod(size for size, stride in zip(gone, strides, strict=True) if not stride)


THREADS = 256
FEWEST, MOST = 32, 512  # elements a thread
FEWEST_OUTPUTS = 2  # sums a multiprocessor: more are not split


def inner_splits(
    card: Card, elements: int, outputs: int, threads_per_sm: int | None, whole: tuple[int, int]
) -> int:
    """Returns the number of parts of a sum whose elements lie side by side; ``whole`` is what is
    not split, of few sums and of many; ``threads_per_sm`` are those that the release takes for any
    card's, if it does."""
    sm_count, threads_per_sm = card.multiprocessors, threads_per_sm or card.threads
    most = whole[outputs >= sm_count]
    if outputs >= FEWEST_OUTPUTS * sm_count or elements <= most:
        return 1
    work = elements * outputs
    if work <= FEWEST * sm_count * threads_per_sm:
        size = FEWEST
    elif work < MOST * sm_count * threads_per_sm:
        blocks = -(-(sm_count * threads_per_sm // (2 * THREADS)) // outputs)
        size = -(-elements // (THREADS * blocks))
        even = nearest_divisor(elements, size)
        if abs(even - size) < 30:
            size = max(even, FEWEST)
    else:
        even = nearest_divisor(elements, MOST)
        size = even if abs(even - MOST) < 50 else MOST
    return -(-elements // (size * THREADS))


class Rows(NamedTuple):
    """The sizes of a reduction's result, and how many elements each is of."""

    shape: Shape
    reduced: int


def rows_before(value: Value, kernels: Sequence[Kernel]) -> Rows | None:
    """The loops of the reductions that are read, or that what is read was made of, if they are
    all the same; None of a result that is memory already."""
    if value.box.memory is not None:
        return None
    read = dict.fromkeys(access.memory for access in value.box.reads)
    found = set[Rows]()
    while read and not found:
        before: dict[Memory, None] = {}
        for memory in read:
            kernel = None if memory.of is None else kernels[memory.of]
            if kernel is None or kernel.kind == LIBRARY:
                continue
            if kernel.kind == SUMS:
                found.add(Rows(memory.shape, kernel.rnumel))
            else:
                before |= dict.fromkeys(each.memory for each in kernel.reads)
        if before == read:
            break
        read = before
    return found.pop() if len(found) == 1 else None


NEVER_SPLIT = frozenset({ops.ARGMAX, ops.ARGMIN})
UNROLLED = 8  # unroll_reductions_threshold in torch/_inductor/config.py


class Summing(Realizing):
    """Makes the kernels of a reduction."""

    def _loops(self, value: Value, over: Sequence[object]) -> tuple[Shape, Shape, tuple[int, ...]]:
        """The sizes that stay and those that are reduced, and their order."""
        shape = value.shape
        kept = [dim for dim in range(len(shape)) if dim not in over]
        gone = [dim for dim in range(len(shape)) if dim in over]
        order = (*kept, *gone)
        return tuple(shape[d] for d in kept), tuple(shape[d] for d in gone), order

    def _counted_in(self, value: Value, order: tuple[int, ...], loops: Shape) -> dict[Access, int]:
        """What it reads, in these loops, and how often."""
        found: dict[Access, int] = {}
        step = (ops.PERMUTE, *order)
        for read, times in value.counted():
            again(found, stepped(read, step, value.shape, loops), times)
        return found

    def _reduced(self, each: Operation, value: Value, over: Sequence[object], dtype: Dtype) -> Box:
        kept, gone, order = self._loops(value, over)
        loops = (*kept, *gone)
        reads = self._counted_in(value, order, loops)
        numel, rnumel = prod(kept), prod(gone)
        if rnumel < UNROLLED:
            places = dict.fromkeys(
                at_place(read, len(kept), place)
                for place in combinations(*map(range, gone))
                for read in reads
            )
            steps = unrolled(each, value.steps, value.shape, over, value.whole)
            return Box(kept, contiguous_strides(kept), dtype, each.role, tuple(places), steps)
        box = Box(kept, contiguous_strides(kept), dtype, each.role)
        splits = 1 if each.op in NEVER_SPLIT else self._splits(list(reads), kept, gone)
        if splits == 1:
            (box.memory,) = self._whole([each], reads, kept, gone, each.op, dtype)
            box.strides = box.memory.strides
            return box
        rows = rows_before(value, self.kernels) if numel == 1 else None
        if rows is not None and prod(rows.shape) * rows.reduced == rnumel:
            depends = [dependency(read, loops) for read in reads]
            return self._summed_by_rows(each, rows, depends, kept, dtype)
        if numel == 1 and value.box.memory is None:
            self._make_whole(each, value)
        part = self._in_parts(each, list(reads), kept, gone, splits, dtype)
        read = dependency(Access(part, 0, part.strides), part.shape)
        box.memory = self._sums((read,), kept, dtype, each.role, numel, splits, each.op)
        return box

    def _in_parts(
        self,
        each: Operation,
        reads: Sequence[Access],
        kept: Shape,
        gone: Shape,
        splits: int,
        dtype: Dtype,
    ) -> Memory:
        """``create_multilayer``: so many parts of each sum, which are sums themselves and may be
        split again."""
        numel, rnumel = prod(kept), prod(gone)
        made = each.role.made("partial sums")
        part_shape = (*kept, splits)
        part_dtype = dtype if dtype.itemsize >= 4 else FLOAT32
        block = -(-rnumel // splits)
        part_reads = [parts_read(read, kept, gone, splits, block) for read in reads]
        finer = self._splits(part_reads, part_shape, (block,))
        if finer > 1:
            part = self._in_parts(each, part_reads, part_shape, (block,), finer, dtype)
            read = dependency(Access(part, 0, part.strides), part.shape)
            return self._sums((read,), part_shape, part_dtype, made, numel * splits, finer, each.op)
        strides = contiguous_strides(part_shape)
        viewed = [in_views(read, kept, gone, (splits, block)) for read in reads]
        if numel > 1:  # they lie as what they read
            known = [
                found._replace(strides=found.strides[:-1])
                if found
                else stepped_by(block, read, kept, gone)
                for found, read in zip(viewed, reads, strict=True)
            ]
            strides = lying_as([each for each in known if each], part_shape, strides)
        part = self._memory(part_shape, strides, part_dtype, made, pads=False)
        outwards_in = sorted(range(len(part_shape)), key=lambda dim: -part.strides[dim])
        inwards = (*outwards_in, len(part_shape))  # and over the elements of a part
        write = in_order(Access(part, 0, part.strides), part_shape, outwards_in)
        depends = [dependency(read, (*kept, *gone)) for read in reads]
        parts = [
            (in_order(found, (*part_shape, block), inwards) if found else None)
            or (in_parts(one, part_shape, block, outwards_in) if rnumel == splits * block else None)
            or dependency_on(
                one.memory, one.offset, in_one(one, kept),
                (*one.tag, SPLIT, splits, repeats(read, gone)),
                None if one.tag else one.numel,
            )
            for one, read, found in zip(depends, reads, viewed, strict=True)
        ]  # fmt: skip
        kernel = Kernel(SUMS, parts, (write,), numel * splits, block, op=each.op)
        kernel.original = numel, rnumel
        self._add(kernel)
        return part

    def _make_whole(self, each: Operation, value: Value) -> None:
        """What is summed as a whole is asked for its strides (ir.py,
        ``check_for_split_dense_dim_reindexing``): it becomes memory, which the sum itself does not
        read, or has but a name, where nobody will."""
        if self._is_read_behind(base_of(each.of[0]), each):
            self.realize(value.box)
        else:
            self._unread += 1

    def _is_read_behind(self, source: Operation, each: Operation) -> bool:
        """Whether what is lowered behind ``each`` reads it."""
        return any(
            self._is_read_behind(user, each)
            if user.kind == VIEW
            else user is not each and user not in self.values
            for user in self._users.get(source, {})
        )

    def _summed_by_rows(
        self,
        each: Operation,
        rows: Rows,
        reads: Sequence[Dependency],
        kept: Shape,
        dtype: Dtype,
    ) -> Box:
        """``create_multilayer_existing_ranges``: a sum of each row, which may join what else is
        computed of it, and the sum of these."""
        wide, made = dtype if dtype.itemsize >= 4 else FLOAT32, each.role.made("partial sums")
        count = prod(rows.shape)
        part = self._sums(reads, rows.shape, wide, made, count, rows.reduced, each.op)
        read = dependency(Access(part, 0, part.strides), rows.shape)
        box = Box(kept, contiguous_strides(kept), dtype, each.role)
        box.memory = self._sums((read,), kept, dtype, each.role, 1, count, each.op)
        return box

    def _sums(
        self,
        reads: Iterable[object],
        kept: Shape,
        dtype: Dtype,
        role: Role,
        numel: int,
        rnumel: int,
        op: Op,
    ) -> Memory:
        memory = self._memory(kept, contiguous_strides(kept), dtype, role)
        write = dependency(Access(memory, 0, memory.strides), kept)
        self._add(Kernel(SUMS, tuple(reads), (write,), numel, rnumel, op=op))  # type: ignore[arg-type]
        return memory

    def _whole(
        self,
        results: Sequence[Operation],
        reads: Mapping[Access, int],
        kept: Shape,
        gone: Shape,
        op: Op,
        dtype: Dtype = FLOAT32,
    ) -> list[Memory]:
        """Sums that are made at once, by one kernel each: one lies as what it reads, if nobody asks
        how it lies."""
        found = []
        of_kept = [each._replace(strides=each.strides[: len(kept)]) for each in reads]
        for result in results:
            strides = contiguous_strides(kept)
            if result.op is ops.MEAN:  # the sum, which only what divides it reads
                strides = lying_as(of_kept, kept, strides)
            elif self._lies_as_read(result):
                strides = lying_as(self._seen(result, of_kept), kept, strides)
            memory = self._memory(kept, strides, dtype, result.role)
            written = Access(memory, 0, memory.strides)
            order = outwards((written, *of_kept), kept, (1, *reads.values()))
            loops = tuple(kept[dim] for dim in order)
            seen = list(reads)
            if loops != kept:
                step = (ops.PERMUTE, *order, *range(len(kept), len(kept) + len(gone)))
                seen = [stepped(each, step, (*kept, *gone), (*loops, *gone)) for each in reads]
            depends = [dependency(each, (*loops, *gone)) for each in seen]
            write = stepped(written, (ops.PERMUTE, *order), kept, loops)
            kernel = Kernel(
                SUMS, depends, (dependency(write, loops),), prod(kept), prod(gone), op=op
            )
            self._add(kernel)
            found.append(memory)
        return found

    def _splits(self, reads: Sequence[Access], kept: Shape, gone: Shape) -> int:
        """``Reduction.num_splits``."""
        numel, rnumel = prod(kept), prod(gone)
        if numel == 1:
            return self._inner_splits(rnumel, 1)
        if rnumel <= 32 or self._asked.ask(_are_many, numel):
            return 1
        counted = self._counted(reads, (*kept, *gone), len(kept))
        if not counted:
            return 1
        self._fixed.update(read.memory for read in counted)
        outer = sum(
            all(
                stride == 0 or stride > 1
                for size, stride in zip(gone, read.strides[len(kept) :], strict=True)
                if size > 1
            )
            for read in counted
        )
        if len(counted) - outer > outer:
            return self._inner_splits(rnumel, numel)
        return self._asked.ask(column_sum_splits, rnumel, numel, self._inductor.threads_per_sm)

    def _counted(self, reads: Sequence[Access], loops: Shape, kept: int) -> list[Access]:
        """Those that decide: what is read whole, else what the reduced loops go through.

        Raises NotTraced where one may decide whose steps are not known.
        """
        known = [
            (read, [on for on, size in zip(read.depends, loops, strict=True) if size > 1])
            for read in reads
            if read.depends is not None and len(read.strides) == len(loops)
        ]
        whole = [read for read, depends in known if all(depends)]
        if whole:
            return whole
        if any(ops.REPEAT_PARTS in each.tag and len(each.strides) != len(loops) for each in reads):
            raise NotTraced("a sum over what is repeated, in another order")
        if not self._inductor.splits_repeated:
            return []
        outer = sum(size > 1 for size in loops[:kept])
        return [read for read, depends in known if any(depends[outer:])]

    def _inner_splits(self, elements: int, outputs: int) -> int:
        facts = self._inductor
        return self._asked.ask(
            inner_splits, elements, outputs, facts.threads_per_sm, facts.whole_sum
        )

    def _two(
        self,
        results: Sequence[Operation],
        value: Value,
        over: Sequence[object],
        op: Op,
    ) -> list[Memory]:
        """Results of one pass over the same elements, two or one."""
        kept, gone, order = self._loops(value, over)
        loops = (*kept, *gone)
        return self._whole(results, self._counted_in(value, order, loops), kept, gone, op)


def _are_many(card: Card, sums: int) -> bool:
    """Whether there are so many that none of them is split."""
    return sums >= card.multiprocessors * 2 * 32
