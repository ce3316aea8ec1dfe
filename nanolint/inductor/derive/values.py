"""Results during lowering: memory, or what is computed wherever it is read; and views of them."""

from __future__ import annotations

from functools import cmp_to_key
from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import Access, stepped
from nanolint.inductor.derive.counting import away, operation_of, own_steps_of, steps_of
from nanolint.inductor.graph import ALIGNMENT, LONGEST_UNPADDED
from nanolint.tensors.sized import of_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nanolint.inductor.derive.buffers import Memory
    from nanolint.inductor.derive.counting import Step
    from nanolint.inductor.derive.operations import Operation
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role

MOST_STEPS = 30  # _realize_opcount_threshold_default in torch/_inductor/config.py


class Box:
    """A result: memory, or what would be computed wherever it is read."""

    __slots__ = (
        "dtype", "made_by", "memory", "most", "pads", "reads", "role", "shape", "steps", "strides",
        "times",
    )  # fmt: skip

    def __init__(
        self,
        shape: Shape,
        strides: Strides,
        dtype: Dtype,
        role: Role,
        reads: tuple[Access, ...] = (),
        steps: frozenset[Step] = frozenset(),
    ) -> None:
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.role = role
        self.reads = reads
        self.times = (1,) * len(reads)  # how often it reads each: what is used twice is made twice
        self.steps = steps
        self.most: int | None = None  # steps, were none of them shared
        self.memory: Memory | None = None
        self.pads = True  # whether long rows may lie apart
        self.made_by: Operation | None = None  # of one that decides how it lies as memory

    @property
    def is_large(self) -> bool:
        """Whether it takes too many steps to be computed where it is read."""
        if self.most is not None and len(self.reads) + self.most <= MOST_STEPS:
            return False
        return self.cost > MOST_STEPS

    @property
    def cost(self) -> int:
        """How many steps it takes, with what it reads."""
        return len(self.reads) + steps_of(self.steps)

    @property
    def loads(self) -> tuple[Access, ...]:
        """What reading it reads."""
        if self.memory is None:
            return self.reads
        return (Access(self.memory, 0, self.memory.strides),)


class Value:
    """A box seen through views."""

    __slots__ = ("box", "shape", "views")

    def __init__(
        self, box: Box, shape: Shape, views: tuple[tuple[tuple[object, ...], Shape], ...] = ()
    ) -> None:
        self.box = box
        self.shape = shape
        self.views = views

    def viewed(self, step: tuple[object, ...], shape: Shape) -> Value:
        """Through one more view."""
        return Value(self.box, shape, (*self.views, (step, shape)))

    def loads(self) -> tuple[Access, ...]:
        """What reading it reads, for each of its elements."""
        found, before = self.box.loads, self.box.shape
        for step, shape in self.views:
            found = tuple([stepped(access, step, before, shape) for access in found])
            before = shape
        return found

    def counted(self) -> Iterator[tuple[Access, int]]:
        """What reading it reads, and how often."""
        return zip(self.loads(), self.box.times if self.box.memory is None else (1,), strict=True)

    def is_cut_along(self, dim: int) -> bool:
        """Whether it is a slice of what is no memory, which it reads by the places that are its own
        in the whole (ir.py, ``SliceView``)."""
        last, _ = self.views[-1] if self.views else ((), ())
        return self.box.memory is None and last[:2] == ("slice", dim)

    @property
    def whole(self) -> int | None:
        """How many elements the box has, where it is seen in another shape."""
        is_reshaped = any(step[0] == "view" for step, _ in self.views)
        return prod(self.box.shape) if is_reshaped else None

    @property
    def steps(self) -> frozenset[Step]:
        """What is computed wherever it is read."""
        if self.box.memory is not None:
            return frozenset()
        found, before = self.box.steps, self.box.shape
        whole: int | None = None
        for step, shape in self.views:
            if step[0] in {"slice", "select"}:
                kind, dim, start, *_ = step
                assert isinstance(dim, int)
                is_cut = kind == "slice" and shape != before
                by = start if kind == "slice" else (kind, start)
                found = away(found, before, dim, by, whole, is_cut=is_cut)
            elif step[0] == "view":
                whole = prod(self.box.shape)
            before = shape
        return found


def again(reads: dict[Access, int], access: Access, times: int = 1) -> None:
    """Count one more read, or so many: a ``Counter`` takes three times as long."""
    reads[access] = reads.get(access, 0) + times


def most_of(each: Operation, boxes: Iterable[Box]) -> int | None:
    """The most steps of what reads these; None where it is not known of one."""
    found = own_steps_of(each)
    for box in boxes:
        if box.memory is None:
            if box.most is None:
                return None
            found += box.most
    return found


def inlined(
    each: Operation, reads: Iterable[Access] | Mapping[Access, int], steps: frozenset[Step]
) -> Value:
    box = Box(each.shape, each.strides, each.dtype, each.role, tuple(reads), steps)
    if isinstance(reads, dict):
        box.times = tuple(reads.values())
    return Value(box, each.shape)


def memory_of(value: Value) -> Memory:
    assert value.box.memory is not None
    return value.box.memory


def what_of(box: Box) -> str:
    made = max(map(operation_of, box.steps), key=lambda each: each.number, default=None)
    return "copy" if made is None else made.name


def loop_order(
    reads: Sequence[Access], shape: Shape, times: Sequence[int] = ()
) -> tuple[int, ...] | None:
    """The dimensions, the innermost first, each inside of those that more of the reads have outside
    of it (scheduler.py, ``pick_loop_order``); None where no strides tell. ``times`` is how often
    each is read."""
    if not reads or any(len(read.strides) != len(shape) for read in reads):
        return None
    return _order_of(tuple([read.strides for read in reads]), shape, tuple(times))


@of_sizes
def _order_of(reads: tuple[Strides, ...], shape: Shape, times: tuple[int, ...]) -> tuple[int, ...]:
    by_dim = [tuple(map(abs, steps)) for steps in zip(*reads, strict=True)]

    def compared(one: int, other: int) -> int:
        if shape[one] == 1 or shape[other] == 1:
            return (shape[one] == 1) - (shape[other] == 1)
        pairs = list(zip(by_dim[one], by_dim[other], times or (1,) * len(reads), strict=True))
        first = sum(count for mine, theirs, count in pairs if not theirs or mine < theirs)
        second = sum(count for mine, theirs, count in pairs if not mine or theirs < mine)
        return second - first or other - one

    from_last = range(len(shape) - 1, -1, -1)  # which one decides where comparisons disagree
    return tuple(sorted(from_last, key=cmp_to_key(compared)))


def outwards(accesses: Sequence[Access], shape: Shape, times: Sequence[int]) -> Sequence[int]:
    """The dimensions, the outermost first, of loops that write the first of these and read the rest
    (ir.py, ``simplify_and_reorder``)."""
    written = accesses[0].strides
    inwards = loop_order(accesses, shape, times)
    if inwards is not None:
        return inwards[::-1]
    return sorted(range(len(shape)), key=lambda dim: -written[dim])


def lying_as(reads: Sequence[Access], shape: Shape, strides: Strides) -> Strides:
    """The strides of what reads these at its own places, else ``strides`` (ir.py,
    ``get_fill_order``)."""
    found, step = list(strides), 1
    for dim in loop_order(reads, shape) or ():
        found[dim], step = step, step * shape[dim]
    return tuple(found)


@of_sizes
def is_ordered(shape: Shape, strides: Strides, asked: Strides) -> bool:
    """Whether the strides grow in the order of others (ir.py, ``is_stride_ordered``)."""
    dims = [dim for dim, size in enumerate(shape) if size != 1]
    found = [strides[dim] for dim in sorted(dims, key=lambda dim: (asked[dim], -dim))]
    return found == sorted(found)


@of_sizes
def padded(shape: Shape, strides: Strides, itemsize: int) -> Strides:
    """Long strides rounded up to 128 bytes (ir.py, ``Layout._pad_strides``)."""
    if len(shape) < 2 or 1 not in strides:
        return strides
    align = ALIGNMENT // itemsize
    order = sorted(range(len(shape)), key=lambda dim: strides[dim])
    found = list(strides)
    changed = False
    for place, dim in enumerate(order):
        if place:
            before = order[place - 1]
            step = found[before] * shape[before]
            if step > LONGEST_UNPADDED and step % align:
                step = -(-step // align) * align
                changed = True
            found[dim] = step
    return tuple(found) if changed else strides
