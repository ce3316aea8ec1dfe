"""How elements are read at other places than their own: by an index, in parts and in wholes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import Access, stepped
from nanolint.inductor.derive.counting import operation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nanolint.inductor.derive.operations import Operation
    from nanolint.inductor.derive.values import Value
    from nanolint.tensors.layout import Shape


def over(index: Value, each: Operation, shape: Shape | None = None) -> Iterable[Access]:
    """The reads of an index, repeated over what is taken or added at each of its places."""
    shape = each.shape if shape is None else shape
    first = _first_looked_up(each)
    missing = len(shape) - len(index.shape) - first
    has_its_own = missing >= 0 and shape[first : first + len(index.shape)] == index.shape
    for access in index.loads():
        if access.tag:
            along = access.along if has_its_own else None
            if along is not None:
                along = (*(False,) * first, *along, *(False,) * missing)
            yield access._replace(along=along)
        elif has_its_own:
            strides = *(0,) * first, *access.strides, *(0,) * missing
            yield Access(access.memory, access.offset, strides)
        else:
            yield Access(access.memory, access.offset, (), (access.strides, index.shape, shape))


def _first_looked_up(each: Operation) -> int:
    """The first of the dimensions that indices take the place of."""
    if each.name != "index":
        return 0
    (dims,) = each.settings
    assert isinstance(dims, tuple) and isinstance(dims[0], int)
    return dims[0] if dims == tuple(range(dims[0], dims[0] + len(dims))) else 0


def rows_in_order(table: Access, index: Value, each: Operation) -> Access | None:
    """A table whose rows are read in order, by an index that is a row's own number."""
    steps = {operation_of(each).name for each in index.steps}
    if steps != {"arange"} or index.box.reads or each.name != "embedding" or table.tag:
        return None
    down, across = table.strides
    lead = [down if size != 1 else 0 for size in index.shape]
    if sum(map(bool, lead)) > 1:
        return None
    return Access(table.memory, table.offset, (*lead, across))


def beside_index(table: Access, each: Operation) -> Access | None:
    """A table of which the same is gathered wherever the index leads."""
    if each.name != "gather" or table.tag or not table.strides:
        return None
    (dim,) = each.settings
    assert isinstance(dim, int)
    return None if table.strides[dim] else table


def part_of(each: Operation, value: Value) -> Callable[[Access], Access] | None:
    """How the ``value`` that is put into a part of zeros is read in the loops of the whole; None
    where that is no simple shift (lowering.py, ``slice_scatter`` and ``select_scatter``)."""
    kind, dim, start, *rest = each.settings
    assert isinstance(dim, int)
    if not isinstance(start, int) or start < 0:
        return None
    if kind == "select":
        return lambda it: _put_at(it, dim)
    if kind == "slice" and each.of[0].shape[dim] == 1 and not value.is_cut_along(dim):
        return lambda it: it if it.tag else _alike_along(it, dim)
    if kind == "slice" and rest == [1]:
        return lambda it: it if it.tag and not it.strides else _moved_by(it, dim, start)
    return None


def _moved_by(read: Access, dim: int, start: int) -> Access:
    return read._replace(offset=read.offset - start * read.strides[dim])


def _alike_along(read: Access, dim: int) -> Access:
    """The access of the one place that there is along a dimension."""
    return read._replace(strides=(*read.strides[:dim], 0, *read.strides[dim + 1 :]))


def from_the_end(read: Access, flipped: Operation) -> Access:
    """The access, from the last place to the first along some dimensions (lowering.py, ``rev``)."""
    offset, strides = read.offset, list(read.strides)
    for dim, size in enumerate(flipped.shape):
        if dim in flipped.settings:
            offset += (size - 1) * strides[dim]
            strides[dim] = -strides[dim]
    return read._replace(offset=offset, strides=tuple(strides))


def _put_at(read: Access, dim: int) -> Access:
    """The access with one more dimension, on which the place does not depend."""
    along, strides, tag = read.along, read.strides, read.tag
    if tag:
        tag = *tag, "put", dim
        along = None if along is None else (*along[:dim], False, *along[dim:])
    if strides or not tag:
        strides = *strides[:dim], 0, *strides[dim:]
    return Access(read.memory, read.offset, strides, tag, along)


def at_place(read: Access, kept: int, place: tuple[int, ...]) -> Access:
    """The access at one place of the reduced loops."""
    if read.tag:
        along = None if read.along is None else read.along[:kept]
        return Access(read.memory, read.offset, (), (*read.tag, place), along)
    rest = sum(at * stride for at, stride in zip(place, read.strides[kept:], strict=True))
    return Access(read.memory, read.offset + rest, read.strides[:kept])


def anywhere(access: Access, part: Value, joined: Operation) -> Access | None:
    """How a part is read, wherever in the whole it is; None where that depends on it."""
    dim = joined.settings[0]
    assert isinstance(dim, int)
    if access.tag and part.shape[dim] == 1:
        return stepped(access, ("expand",), part.shape, joined.shape)
    if access.tag or (part.shape[dim] != 1 and access.strides[dim]):
        return None
    return access._replace(strides=(*access.strides[:dim], 0, *access.strides[dim + 1 :]))


def further(access: Access, padded: Operation) -> Access:
    """How what is padded is read: from as much further ahead."""
    sides = padded.settings[0] if padded.settings else ()
    assert isinstance(sides, tuple)
    offset = access.offset
    for side, stride in zip(sides[::2], reversed(access.strides), strict=False):
        assert isinstance(side, int)  # before the elements; the last dimension comes first
        offset -= side * stride
    return access._replace(offset=offset)


def tagged(access: Access, place: int, each: Operation) -> Access:
    """How the operand at a place is read, at elements that no strides tell."""
    tag = each.name, place, each.settings, access.offset, access.strides, each.shape
    along = access.depends
    if along is not None and len(along) != len(each.shape):  # selected
        dim = each.settings[1]
        assert isinstance(dim, int)
        along = (*along[:dim], False, *along[dim:])
    strides = access.strides if each.name in {"cat", "repeat in parts"} else ()
    if each.name == "repeat in parts":  # an index in a dimension of one is 0
        sizes = each.of[0].shape
        if along is not None:
            along = tuple(on and size != 1 for on, size in zip(along, sizes, strict=True))
        if len(strides) == len(sizes):
            strides = tuple(0 if size == 1 else by for by, size in zip(strides, sizes, strict=True))
    return Access(access.memory, 0, strides, (*access.tag, *tag), along)


def looked_up(index: Value) -> tuple[str, ...]:
    """What tells the places that an index leads to from others: dependencies.py names them by
    how many steps came before, whatever was read."""
    return *sorted(operation_of(each).name for each in index.steps), *(
        "load" for _ in index.loads()
    )
