"""What the parts of a sum that is split read and write (torch/_inductor/ir.py,
``_multilayer_wrap_loader``)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import SPLIT, Access, dependency, dependency_on, stepped
from nanolint.inductor.derive.cutting import CUT, parts_of
from nanolint.inductor.derive.viewed import merged, strides_through
from nanolint.tensors.layout import contiguous_strides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.access import Dependency
    from nanolint.tensors.layout import Shape


def in_one(read: Dependency, kept: Shape) -> tuple[tuple[int, int], ...]:
    """The loops of a read that is split: those that are reduced are one where they lie in order
    (ir.py, ``_multilayer_wrap_loader``: one index, divided again where that does not cancel)."""
    outer = sum(size != 1 for size in kept)
    return read.loops[:outer] + merged(read.loops[outer:])


def in_order(access: Access, shape: Shape, order: Sequence[int]) -> Dependency:
    """An access in loops of this order."""
    loops = tuple(shape[dim] for dim in order)
    return dependency(stepped(access, ("permute", *order), shape, loops), loops)


def in_parts(read: Dependency, shape: Shape, block: int, order: Sequence[int]) -> Dependency | None:
    """How the parts of a sum read, each going on where the one before has ended: in loops over the
    results in this order, and over a part. None where one loop is not all that a part goes through,
    but for parts of one sum of everything (``cutting.py`` has such loops of elementwise kernels).
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
    a part, where strides tell of all these."""
    if not read.tag or prod(parts) != prod(gone):
        return None
    found = stepped(read, ("view",), (*kept, *gone), (*kept, *parts))
    told = strides_through(found.tag) if found.tag else found.strides
    return None if told is None else Access(read.memory, read.offset, told)


def parts_read(read: Access, kept: Shape, gone: Shape, splits: int, block: int) -> Access:
    """A read in loops over the parts of each sum and over the elements of a part; where the last
    part is shorter, how far it goes in the first steps."""
    shape = (*kept, splits, block)
    if splits * block == prod(gone):
        return stepped(read, ("view",), (*kept, *gone), shape)
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
    """How far a read goes from sum to sum, and from part to part, where that is known."""
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
