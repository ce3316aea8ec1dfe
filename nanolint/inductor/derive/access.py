"""Where a kernel reads and writes memory: the part of Inductor's index expressions that decides.

An access is a buffer, an offset and a stride for each loop; where the place follows from no strides
(an index that is read, a view that no strides have) a tag stands for it. Two accesses are the same
memory in the same order where their dependencies, with loops merged, are equal.
"""

from __future__ import annotations

from itertools import compress
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.inductor.derive.first_steps import first_steps
from nanolint.inductor.derive.operations import TAKEN_APART
from nanolint.inductor.derive.quotients import APART, QUOTIENT, leaves_quotients
from nanolint.inductor.derive.viewed import merged, strides_through
from nanolint.tensors.layout import contiguous_strides, view_strides
from nanolint.tensors.sized import of_sizes

if TYPE_CHECKING:
    from nanolint.inductor.derive.buffers import Memory
    from nanolint.tensors.layout import Shape, Strides


SPLIT = "split"  # in the tag of what the parts of a sum read, before how many and `repeats`


class Access(NamedTuple):
    """One load of an element, for each element of a shape. ``tag`` is () where strides tell; else
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
        """Whether the place depends on each dimension; None where it is looked up."""
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
        """Where it goes through its memory, with loops made one where they do so in order."""
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
        """How far the first step of each of so many loops leads; None where that is not known."""
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
    """Where it is read once loops are merged, by which a quotient is known to be 0."""
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
    is_known = len(strides) == len(before) and not (apart and step[0] == "unfold")
    moved = _moved(strides, step, before, after) if is_known else None
    if moved is not None and not tag:
        return Access(memory, offset + moved[0], moved[1], apart=apart)
    along = access.depends
    if along is not None:
        along = _depending(along, step, before, after)
    # One order after another is one order; a tag of what is joined ends otherwise.
    is_order = step[0] == "permute" and bool(tag) and isinstance(tag[-2], tuple)
    if is_order and tag[-2][:1] == step[:1]:
        tag, step = tag[:-2], ("permute", *(tag[-2][1 + dim] for dim in step[1:]))
    seen = *(tag or (strides, before)), step, after
    first = first_steps(seen) or (() if moved is None else moved[1])
    return Access(memory, offset, first, seen, along, apart)


def _depending(
    along: tuple[bool, ...], step: tuple[Any, ...], before: Shape, after: Shape
) -> tuple[bool, ...]:
    """On which dimensions a place depends that depends on these, through a view."""
    kind = step[0]
    if kind == "permute":
        return tuple(along[dim] for dim in step[1:])
    if kind == "expand":
        missing = len(after) - len(before)
        kept = zip(before, along, after[missing:], strict=True)
        return (*(False,) * missing, *(on and size == wanted for size, on, wanted in kept))
    if kind == "slice":
        return along
    if kind == "select":
        return (*along[: step[1]], *along[step[1] + 1 :])
    return _folded(along, before, after) if kind == "view" else (True,) * len(after)


@of_sizes
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
    if kind == "view":
        found = view_strides(before, strides, after)
        return None if found is None else (0, found)
    if kind == "permute":
        return 0, tuple(strides[dim] for dim in step[1:])
    if kind == "expand":
        missing = len(after) - len(before)
        return 0, (0,) * missing + tuple(
            0 if size == 1 and wanted != 1 else stride
            for size, stride, wanted in zip(before, strides, after[missing:], strict=True)
        )
    if kind == "unfold":  # lowering.py, ``unfold``: a place is the sum of two
        dim, _, by = step[1:4]
        return 0, (*strides[:dim], strides[dim] * by, *strides[dim + 1 :], strides[dim])
    if kind not in {"slice", "select"}:  # a diagonal
        return None
    dim, start = step[1], step[2]
    offset = start * strides[dim]
    if kind == "slice":
        return offset, (*strides[:dim], strides[dim] * step[3], *strides[dim + 1 :])
    return offset, (*strides[:dim], *strides[dim + 1 :])


def in_order(access: Access) -> Access:
    """The access, if its memory lay in order."""
    strides = _in_order(access.strides, access.memory.shape, access.memory.strides)
    return access._replace(strides=strides)


@of_sizes
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
    return access if before == after else stepped(access, ("expand",), before, after)
