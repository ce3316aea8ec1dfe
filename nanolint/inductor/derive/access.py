"""Where a kernel reads and writes memory: the part of Inductor's index expressions that decides.

An access is a buffer, an offset and a stride for each loop; if the place follows from no strides
(an index that is read, a view that no strides have) a tag stands for it. Two accesses are the same
memory in the same order if their dependencies, with loops merged, are equal.

Results during lowering: memory, or values that are computed at each read; and views of them.

Memory of a compiled graph while it is derived.
"""

from __future__ import annotations

from functools import cmp_to_key
from itertools import compress
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.inductor.derive.counting import away, operation_of, own_steps_of, steps_of
from nanolint.inductor.derive.operations import PARTS, TAKEN_APART
from nanolint.inductor.derive.uneven import (
    APART,
    QUOTIENT,
    first_steps,
    leaves_quotients,
    merged,
    strides_through,
)
from nanolint.inductor.graph import ALIGNMENT, LONGEST_UNPADDED
from nanolint.tensors.layout import contiguous_strides, of_sizes, view_strides
from nanolint.tensors.ops import registry as ops

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nanolint.inductor.derive.counting import Step
    from nanolint.inductor.derive.operations import Operation
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role

SPLIT = "split"  # in the tag of what the parts of a sum read, before how many and `repeats`


class Access(NamedTuple):
    """One load of an element, for each element of a shape. ``tag`` is () if strides tell; else
    they are those of the first step along each dimension, or not known, and ``along`` says of each
    dimension whether the place depends on it, None where it is looked up. ``apart`` are views of
    what was no memory, where these may leave quotients (``quotients.py``)."""

    memory: Memory
    offset: int
    strides: Strides
    tag: tuple[Any, ...] = ()
    along: tuple[bool, ...] | None = None
    apart: tuple[Any, ...] = ()

    @property
    def depends(self) -> tuple[bool, ...] | None:
        """Returns whether the place depends on each dimension; None if it is looked up."""
        return self.along if self.tag else tuple(map(bool, self.strides))


class Dependency:
    """An access in its kernel's loops, as Inductor compares them.

    ``loops`` are sizes and strides, the outermost first, without those of one step and without the
    innermost that the place does not depend on. ``nbytes`` are those that are read: of loops that
    the place depends on, or of the whole memory. There is one of each, which its memory keeps: see
    ``dependency_on``.
    """

    __slots__ = ("loops", "memory", "nbytes", "offset", "tag")

    def __init__(
        self,
        memory: Memory,
        offset: int,
        loops: tuple[tuple[int, int], ...],
        tag: tuple[Any, ...],
        steps: int | None,
    ) -> None:
        self.memory = memory
        self.offset = offset
        self.loops = loops
        self.tag = tag
        if not tag:
            steps = prod([size for size, stride in loops if stride])
        self.nbytes = memory.nbytes if steps is None else steps * memory.itemsize

    @property
    def place(self) -> tuple[Any, ...]:
        """Returns the place in its memory, with loops merged if they go through it in order."""
        return self.offset, merged(self.loops), self.tag

    def is_same(self, other: Dependency) -> bool:
        """Whether both go through the same places in the same order, in whatever loops."""
        if self is other:
            return True
        return (
            len(self.loops) != len(other.loops)
            and self.memory is other.memory
            and self.place == other.place
        )

    @property
    def numel(self) -> int:
        """Elements that are read, as ``nbytes``."""
        return self.nbytes // self.memory.itemsize

    @property
    def repeats(self) -> int:
        """How often the parts of a sum read the same element, which no strides tell any more."""
        if SPLIT not in self.tag:
            return 1
        repeats: int = self.tag[self.tag.index(SPLIT) + 2]
        return repeats

    @property
    def steps_by_one(self) -> bool:
        """Whether the innermost loop walks from element to element, or stays at one."""
        return not self.loops or self.loops[-1][1] in {0, 1}

    def steps(self, count: int) -> tuple[int, ...] | None:
        """Returns the first step of each of so many loops, in elements; None if that is not
        known."""
        if not self.tag or self.tag[0] == QUOTIENT:
            found = [stride for _, stride in self.loops]
            return (*found, *(0,) * (count - len(found))) if len(found) <= count else None
        first = first_steps(self.tag)
        sizes = self.tag[-1] if first else ()
        known = tuple([step for step, size in zip(first, sizes, strict=True) if size != 1])
        return known if len(known) == count else None

    def covers(self, steps: int) -> bool:
        """Whether each of so many steps reads an element of its own."""
        return prod(size for size, stride in self.loops if stride) == steps


@of_sizes
def _loops(sizes: Shape, strides: Strides) -> tuple[tuple[int, int], ...]:
    found = [(size, stride) for size, stride in zip(sizes, strides, strict=True) if size != 1]
    while found and not found[-1][1]:
        found.pop()
    return tuple(found)


def dependency(access: Access, loops: Shape) -> Dependency:
    """The dependency of an access in loops of these sizes."""
    memory, offset, _, tag, along, apart = access
    told = strides_through(tag) if tag else access.strides
    if told is not None and apart and apart[-1] == loops and leaves_quotients(apart):
        each = prod(size for size, stride in zip(loops, told, strict=True) if stride)
        return dependency_on(memory, offset, _loops(loops, told), (QUOTIENT, apart), each)
    if told is not None:
        return dependency_on(memory, offset, _loops(loops, told), ())
    steps = None if along is None else prod(compress(loops, along))
    return dependency_on(memory, offset, (), tag, steps)


def without_quotient(each: Dependency) -> Dependency:
    """Returns the access with loops merged, by which a quotient is known to be 0."""
    if not each.tag or each.tag[0] != QUOTIENT:
        return each
    return dependency_on(each.memory, each.offset, each.loops, ())


def dependency_on(
    memory: Memory,
    offset: int,
    loops: tuple[tuple[int, int], ...],
    tag: tuple[Any, ...],
    steps: int | None = None,
) -> Dependency:
    """The one dependency of this kind; ``steps`` are those that lead to elements of their own."""
    key = offset, loops, tag, steps
    known = memory.dependencies.get(key)
    if known is None:
        known = memory.dependencies[key] = Dependency(memory, offset, loops, tag, steps)
    return known


def stepped(access: Access, step: tuple[Any, ...], before: Shape, after: Shape) -> Access:
    """The access through a view: ``step`` is how (see ``Tracer.view``)."""
    if step[0] in TAKEN_APART:
        return access
    memory, offset, strides, tag, _, apart = access
    if apart or step[-1] is APART:
        apart = *(apart or (strides, before)), step, after
    is_known = len(strides) == len(before) and not (apart and step[0] is ops.UNFOLD)
    moved = _moved(strides, step, before, after) if is_known else None
    if moved is not None and not tag:
        return Access(memory, offset + moved[0], moved[1], apart=apart)
    along = access.depends
    if along is not None:
        along = _depending(along, step, before, after)
    # One order after another is one order; a tag of what is joined ends otherwise.
    is_order = step[0] is ops.PERMUTE and bool(tag) and isinstance(tag[-2], tuple)
    if is_order and tag[-2][:1] == step[:1]:
        tag, step = tag[:-2], (ops.PERMUTE, *(tag[-2][1 + dim] for dim in step[1:]))
    seen = *(tag or (strides, before)), step, after
    first = first_steps(seen) or (() if moved is None else moved[1])
    return Access(memory, offset, first, seen, along, apart)


def _depending(
    along: tuple[bool, ...], step: tuple[Any, ...], before: Shape, after: Shape
) -> tuple[bool, ...]:
    """On which dimensions a place depends that depends on these, through a view."""
    kind = step[0]
    if kind is ops.PERMUTE:
        return tuple(along[dim] for dim in step[1:])
    if kind is ops.EXPAND:
        missing = len(after) - len(before)
        kept = zip(before, along, after[missing:], strict=True)
        return (*(False,) * missing, *(on and size == wanted for size, on, wanted in kept))
    if kind is ops.SLICE:
        return along
    if kind is ops.SELECT:
        return (*along[: step[1]], *along[step[1] + 1 :])
    return _folded(along, before, after) if kind is ops.VIEW else (True,) * len(after)


def _folded(along: tuple[bool, ...], before: Shape, after: Shape) -> tuple[bool, ...]:
    """The same in another shape: a dimension depends that shares strides with one that does."""
    known = list(compress(_spans(before), along))
    return tuple(
        any(max(start, first) < min(end, last) for first, last in known)
        for start, end in _spans(after)
    )


def _spans(shape: Shape) -> list[tuple[int, int]]:
    """The strides that each dimension goes through, were it in order."""
    steps = contiguous_strides(shape)
    return [(step, step * size) for step, size in zip(steps, shape, strict=True)]


@of_sizes
def _moved(
    strides: Strides, step: tuple[Any, ...], before: Shape, after: Shape
) -> tuple[int, Strides] | None:
    kind = step[0]
    if kind is ops.VIEW:
        found = view_strides(before, strides, after)
        return None if found is None else (0, found)
    if kind is ops.PERMUTE:
        return 0, tuple(strides[dim] for dim in step[1:])
    if kind is ops.EXPAND:
        missing = len(after) - len(before)
        return 0, (0,) * missing + tuple(
            0 if size == 1 and wanted != 1 else stride
            for size, stride, wanted in zip(before, strides, after[missing:], strict=True)
        )
    if kind is ops.UNFOLD:  # lowering.py, ``unfold``: a place is the sum of two
        dim, _, by = step[1:4]
        return 0, (*strides[:dim], strides[dim] * by, *strides[dim + 1 :], strides[dim])
    if kind not in PARTS:  # a diagonal
        return None
    dim, start = step[1], step[2]
    offset = start * strides[dim]
    if kind is ops.SLICE:
        return offset, (*strides[:dim], strides[dim] * step[3], *strides[dim + 1 :])
    return offset, (*strides[:dim], *strides[dim + 1 :])


def in_order(access: Access) -> Access:
    """The access, if its memory lay in order."""
    strides = _in_order(access.strides, access.memory.shape, access.memory.strides)
    return access._replace(strides=strides)


def _in_order(steps: Strides, shape: Shape, strides: Strides) -> Strides:
    by_dim = sorted(zip(strides, contiguous_strides(shape), strict=True), reverse=True)
    found = []
    for step in steps:
        left, moved = abs(step), 0
        for stride, by in by_dim:
            if stride:
                moved += left // stride * by
                left %= stride
        found.append(moved)
    return tuple(found)


def broadcast(access: Access, before: Shape, after: Shape) -> Access:
    """The access repeated to a larger shape."""
    return access if before == after else stepped(access, (ops.EXPAND,), before, after)


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
        """Whether it takes too many steps to be computed at each read."""
        if self.most is not None and len(self.reads) + self.most <= MOST_STEPS:
            return False
        return self.cost > MOST_STEPS

    @property
    def cost(self) -> int:
        """How many steps it takes, with what it reads."""
        return len(self.reads) + steps_of(self.steps)

    @property
    def loads(self) -> tuple[Access, ...]:
        """Returns the accesses of one read of it."""
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
        """Returns the accesses of one read of it, for each of its elements."""
        found, before = self.box.loads, self.box.shape
        for step, shape in self.views:
            found = tuple([stepped(access, step, before, shape) for access in found])
            before = shape
        return found

    def counted(self) -> Iterator[tuple[Access, int]]:
        """Returns the accesses of one read of it, and how often each is made."""
        return zip(self.loads(), self.box.times if self.box.memory is None else (1,), strict=True)

    def is_cut_along(self, dim: int) -> bool:
        """Whether it is a slice of what is no memory, which it reads by the places that are its own
        in the whole (ir.py, ``SliceView``)."""
        last, _ = self.views[-1] if self.views else ((), ())
        return self.box.memory is None and last[:2] == (ops.SLICE, dim)

    @property
    def whole(self) -> int | None:
        """Returns the number of elements of the box, if it is seen in another shape."""
        is_reshaped = any(step[0] is ops.VIEW for step, _ in self.views)
        return prod(self.box.shape) if is_reshaped else None

    @property
    def steps(self) -> frozenset[Step]:
        """Returns the steps that each read computes."""
        if self.box.memory is not None:
            return frozenset()
        found, before = self.box.steps, self.box.shape
        whole: int | None = None
        for step, shape in self.views:
            if step[0] in PARTS:
                kind, dim, start, *_ = step
                assert isinstance(dim, int)
                is_cut = kind is ops.SLICE and shape != before
                by = start if kind is ops.SLICE else (kind, start)
                found = away(found, before, dim, by, whole, is_cut=is_cut)
            elif step[0] is ops.VIEW:
                whole = prod(self.box.shape)
            before = shape
        return found


def again(reads: dict[Access, int], access: Access, times: int = 1) -> None:
    """Count one more read, or so many: a ``Counter`` takes three times as long."""
    reads[access] = reads.get(access, 0) + times


def most_of(each: Operation, boxes: Iterable[Box]) -> int | None:
    """Returns the most steps of a value that reads these; None if one of them is not known."""
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


def op_of(box: Box) -> Op | None:
    """Returns the operation that a kernel of loops is launched for; None for a copy."""
    made = max(map(operation_of, box.steps), key=lambda each: each.number, default=None)
    return None if made is None else made.op


def loop_order(
    reads: Sequence[Access], shape: Shape, times: Sequence[int] = ()
) -> tuple[int, ...] | None:
    """The dimensions, the innermost first, each inside of those that more of the reads have outside
    of it (scheduler.py, ``pick_loop_order``); None if no strides tell. ``times`` is how often
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


class Memory:
    """A buffer of a compiled graph, or an input of it."""

    __slots__ = (
        "_nbytes", "dependencies", "dtype", "inside", "kept", "name", "of", "part", "role", "shape",
        "storage", "strides",
    )  # fmt: skip

    def __init__(self, name: str, shape: Shape, strides: Strides, dtype: Dtype, role: Role) -> None:
        self.name = name
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.role = role
        self.kept = False  # handed out
        self.inside: Memory | None = None  # of a part that is written into a whole: that
        self.part = False  # one of several results of a library call
        self.storage = self  # of sums added to other memory, or a view that is handed in: that
        self.of: int | None = None  # the number of the kernel that writes it
        self._nbytes: int | None = None  # once it was asked for
        self.dependencies: dict[tuple[Any, ...], Any] = {}  # kept here by access.py

    def __repr__(self) -> str:
        return f"{self.name}{self.shape}{self.dtype.name}"

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def numel(self) -> int:
        """Elements of its storage, with gaps between them."""
        return (
            1
            + sum(
                (size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True)
            )
            if prod(self.shape)
            else 0
        )

    @property
    def counted(self) -> int:
        """Bytes of its elements, by which Inductor estimates the peak."""
        return self.itemsize * prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of its storage."""
        if self._nbytes is None:
            self._nbytes = self.itemsize * self.numel
        return self._nbytes
