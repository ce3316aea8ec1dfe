"""Library calls, sums by index, and elements that are read at other places than their own.

Library calls, matrix products among them, and sums by index.

How elements are read at other places than their own: by an index, in parts and in wholes.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import (
    Access,
    Box,
    Dependency,
    Memory,
    Value,
    again,
    broadcast,
    dependency,
    dependency_on,
    inlined,
    loop_order,
    lying_as,
    memory_of,
    stepped,
)
from nanolint.inductor.derive.counting import ATTENTION, ATTENTION_BACKWARD, operation_of
from nanolint.inductor.derive.kernels import LIBRARY, LOOPS, Kernel
from nanolint.inductor.derive.operations import (
    BIASED,
    FALLS_BACK,
    INPUT,
    PRODUCTS,
    PUTS,
    STATE_FIRST,
    Operation,
)
from nanolint.inductor.derive.realizing import Realizing
from nanolint.tensors.device import NotDerived
from nanolint.tensors.dtypes import FLOAT32, INT64
from nanolint.tensors.layout import contiguous_strides
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.linear import is_readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.ops.registry import Op


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
    if each.op is not ops.INDEX:
        return 0
    (dims,) = each.settings
    assert isinstance(dims, tuple) and isinstance(dims[0], int)
    return dims[0] if dims == tuple(range(dims[0], dims[0] + len(dims))) else 0


def rows_in_order(table: Access, index: Value, each: Operation) -> Access | None:
    """A table whose rows are read in order, by an index that is a row's own number."""
    steps = {operation_of(each).op for each in index.steps}
    if steps != {ops.ARANGE} or index.box.reads or each.op is not ops.EMBEDDING or table.tag:
        return None
    down, across = table.strides
    lead = [down if size != 1 else 0 for size in index.shape]
    if sum(map(bool, lead)) > 1:
        return None
    return Access(table.memory, table.offset, (*lead, across))


def beside_index(table: Access, each: Operation) -> Access | None:
    """A table of which the same is gathered wherever the index leads."""
    if each.op is not ops.GATHER or table.tag or not table.strides:
        return None
    (dim,) = each.settings
    assert isinstance(dim, int)
    return None if table.strides[dim] else table


def part_of(each: Operation, value: Value) -> Callable[[Access], Access] | None:
    """Returns how the ``value`` that is put into a part of zeros is read in the loops of the whole;
    None if that is not a simple shift (lowering.py, ``slice_scatter`` and ``select_scatter``)."""
    kind, dim, start, *rest = each.settings
    assert isinstance(dim, int)
    if not isinstance(start, int) or start < 0:
        return None
    if kind is ops.SELECT:
        return lambda it: _put_at(it, dim)
    if kind is ops.SLICE and each.of[0].shape[dim] == 1 and not value.is_cut_along(dim):
        return lambda it: it if it.tag else _alike_along(it, dim)
    if kind is ops.SLICE and rest == [1]:
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
    """Returns how a part is read, in whatever place of the whole; None if that depends on the
    place."""
    dim = joined.settings[0]
    assert isinstance(dim, int)
    if access.tag and part.shape[dim] == 1:
        return stepped(access, (ops.EXPAND,), part.shape, joined.shape)
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
    tag = each.op, place, each.settings, access.offset, access.strides, each.shape
    along = access.depends
    if along is not None and len(along) != len(each.shape):  # selected
        dim = each.settings[1]
        assert isinstance(dim, int)
        along = (*along[:dim], False, *along[dim:])
    strides = access.strides if each.op in {ops.CAT, ops.REPEAT_PARTS} else ()
    if each.op is ops.REPEAT_PARTS:  # an index in a dimension of one is 0
        sizes = each.of[0].shape
        if along is not None:
            along = tuple(on and size != 1 for on, size in zip(along, sizes, strict=True))
        if len(strides) == len(sizes):
            strides = tuple(0 if size == 1 else by for by, size in zip(strides, sizes, strict=True))
    return Access(access.memory, 0, strides, (*access.tag, *tag), along)


def looked_up(index: Value) -> tuple[str, ...]:
    """Returns the name of the places that an index leads to: dependencies.py names them by how many
    steps came before, whatever was read."""
    return *sorted(operation_of(each).op.aten for each in index.steps), *(
        "load" for _ in index.loads()
    )


SMALL, LEAST_ROWS = 5, 64  # fewer columns, and at least so many rows
COPYING = PRODUCTS - {ops.SCALED_MM}  # what cuBLAS cannot read as it lies
BATCHED = frozenset({ops.BMM, ops.BADDBMM})  # which look at the strides of one row, too
OTHERS = frozenset({ops.CONVOLUTION, ops.INDEX_ADD, ops.MULTINOMIAL})  # with one result
NAMED_RESULTS = {ops.FLASH: 5, ops.EFFICIENT: 4}  # with the state on the host, and debug_attn_mask
# Results that lie as an argument does in memory, by their places (torch/_meta_registrations.py,
# ``empty_like``).
LYING_AS = {
    ops.FLASH: {0: 0}, ops.FLASH_BACKWARD: {0: 1, 1: 2, 2: 3},
    ops.CUDNN: {0: 0}, ops.CUDNN_BACKWARD: {0: 1, 1: 2, 2: 3},
}  # fmt: skip
FLEXIBLE = frozenset({ops.MM, ops.ADDMM})  # kernel/mm.py: those whose rows Inductor may lay apart


class Calling(Realizing):
    """Lowers what no kernel of loops makes."""

    def _call(self, each: Operation) -> Value:
        if each.op in PUTS:
            return self._put(each)
        if each.op is ops.ASSERT:
            return self._asserted(each)
        if each in self._sums_of_products:  # made where it is added
            return Value(self._empty(each), each.shape)
        if each.op in BIASED and self._adds_later(each):
            return self._unfused(each)
        if each.op is ops.MM and self._inductor.multiplies_small and _is_small(each):
            return self._multiplied(each)
        sources = [*each.of]
        values = [self.values[source] for source in sources]
        if each.op in BIASED:  # the bias last
            values.append(values.pop(0))
            sources.append(sources.pop(0))
        pairs = list(zip(values, sources, strict=True))
        late = [value.box for value in values if value.box.memory is None]
        if each.op in ATTENTION | ATTENTION_BACKWARD and each not in self._seeded:
            masks = sources[3:] if each.op is ops.EFFICIENT else ()
            values = [self._exact(*pair, is_mask=pair[1] in masks) for pair in pairs]
        else:
            values = [self._reachable(*pair) for pair in pairs]
            if each in self._seeded:
                self._seen_before.update(late)
        if each.op is ops.CONVOLUTION_BACKWARD:
            values = [self._ordered(*pair) for pair in zip(values, sources, strict=True)]
        reads = [dependency_on(memory_of(value), 0, (), ()) for value in values]
        if each.parts:
            return self._several(each, values, reads)
        if each.op not in PRODUCTS | OTHERS:
            raise NotDerived(each.op.aten)
        factors = values[:2] if each.op in COPYING else ()
        return self._product(each, reads, factors, late=late if each.op in BATCHED else ())

    def _multiplied(self, each: Operation) -> Value:
        """A product that is a short sum of products, computed where it is read."""
        values = [self._reachable(self.values[source], source) for source in each.of]
        (one,), (other,) = (value.loads() for value in values)
        reads: dict[Access, int] = {}
        for place in range(each.of[0].shape[1]):
            down, along = one.strides
            again(reads, one._replace(offset=one.offset + place * along, strides=(down, 0)))
            down, along = other.strides
            again(reads, other._replace(offset=other.offset + place * down, strides=(0, along)))
        each.cost = 2 * each.of[0].shape[1] - 1
        return inlined(each, reads, frozenset({each}))

    def _asserted(self, each: Operation) -> Value:
        """``_assert_async``: a kernel whose result nobody reads."""
        (condition,) = (self.values[source] for source in each.of)
        self.realize(condition.box)
        box = inlined(each, tuple(condition.loads()), frozenset()).box
        self.realize(box)
        return Value(box, each.shape)

    def _reachable(self, value: Value, source: Operation) -> Value:
        """In memory, and copied where no strides tell the view (``ExternKernel.realize_input``):
        the copy lies as what it reads (ir.py, ``get_fill_order``)."""
        self.realize(value.box)
        reads = tuple(value.loads())
        if any(access.tag for access in reads):
            strides = contiguous_strides(value.shape)
            return self._copied(value, source, lying_as(reads, value.shape, strides))
        return value

    def _exact(self, value: Value, source: Operation, *, is_mask: bool) -> Value:
        """As ``_reachable``, but what is no memory yet is copied as it was traced, for each that
        asks how it lies (``ExternKernel.require_strides``): whole, but for the mask of attention's
        forward call, which is copied once where it is repeated (lowering.py,
        ``sdpa_constraint``)."""
        if value.box in self._seen_before and not all(source.strides):
            return self._copied(value, source, contiguous_strides(value.shape))
        if value.box.memory is not None or not value.box.reads:
            value.box.made_by = None
            return self._reachable(value, source)
        if all(source.strides):
            return self._copied(value, source)
        if not is_mask:
            return self._copied(value, source, contiguous_strides(value.shape))
        once = value.shape
        for dim, stride in enumerate(source.strides):
            if not stride:
                once = (*once[:dim], 1, *once[dim + 1 :])
                value = value.viewed((ops.SLICE, dim, 0, 1), once)
        return self._copied(value, source).viewed((ops.EXPAND,), source.shape)

    def _ordered(self, value: Value, source: Operation) -> Value:
        """Copied where it does not lie in order (``ExternKernel.require_stride_order``)."""
        (access,) = value.loads()
        pairs = zip(value.shape, access.strides, strict=True)
        strides = [stride for size, stride in pairs if size > 1]
        if strides == sorted(strides, reverse=True):
            return value
        return self._copied(value, source, contiguous_strides(value.shape))

    def _product(
        self,
        each: Operation,
        reads: Sequence[object],
        factors: Sequence[Value],
        op: Op | None = None,
        late: Sequence[Box] = (),
    ) -> Value:
        """``late`` became memory for it, behind their views."""
        pads = each.op in FLEXIBLE and each not in self._dense and not self._keeps_order(each)
        memory = self._memory(each.shape, each.strides, each.dtype, each.role, pads=pads)
        write = dependency(Access(memory, 0, memory.strides), each.shape)
        kernel = Kernel(LIBRARY, tuple(reads), (write,), prod(each.shape), op=op or each.op)  # type: ignore[arg-type]
        kernel.product = each.op not in OTHERS
        copies = [
            _copy(value, each)
            for value in reversed(factors)
            if not _is_readable(value, is_late=value.box in late)
        ]
        kernel.scratch = (*copies, *reversed(copies))
        self._add(kernel)
        box = Box(each.shape, each.strides, each.dtype, each.role)
        box.memory = memory
        return Value(box, each.shape)

    def _adds_later(self, each: Operation) -> bool:
        """Whether the bias is added where the product is read: ``should_prefer_unfused_addmm``."""
        keeps = each.dtype.itemsize == 2 and self._inductor.keeps_half_biases
        if each.op is ops.BADDBMM and each.of[0].shape == each.shape:
            return False
        keeps = keeps or (each.op is ops.BADDBMM and not self._inductor.adds_apart)
        return not keeps and self._is_read_by_elements(each)

    def _unfused(self, each: Operation) -> Value:
        bias, *factors = (self.values[source] for source in each.of)
        for value in factors:
            self.realize(value.box)
        reads = [dependency_on(memory_of(value), 0, (), ()) for value in factors]
        op = ops.MM if each.op is ops.ADDMM else ops.BMM
        product = self._product(each, reads, factors, op)
        added = [broadcast(access, bias.shape, each.shape) for access in bias.loads()]
        return inlined(each, (*product.loads(), *added), bias.steps | {each})

    def _find_sums_of_products(self, operations: Sequence[Operation]) -> None:
        """Sums that a matrix product makes itself, by the product: post_grad.py, ``addmm``.

        The last first (pattern_matcher.py): what such a sum reads is not read by elements. Of two
        products the second is the one (``is_valid_addmm_fusion``'s patterns, the last first).
        """
        if not self._inductor.adds_in_product:
            return
        for each in reversed(operations):
            if each.op is not ops.ADD or len(set(each.of)) != 2:
                continue
            for factor in reversed(each.of):
                if (
                    factor.op is ops.MM
                    and factor in self._own
                    and factor not in self._outputs
                    and len(self._users[factor]) == 1
                    and all(source.dtype is each.dtype for source in each.of)
                    and (self._is_whole(each, factor) or not self._is_read_by_elements(each))
                ):
                    self._sums_of_products[factor] = each
                    self._made_by_products.add(each)
                    break

    def _is_whole(self, each: Operation, factor: Operation) -> bool:
        """Whether what is added to a product is no bias (``_is_bias_like_addmm_input``)."""
        (other,) = (source for source in each.of if source is not factor)
        is_bias = other.kind == INPUT or other.shape != each.shape or 0 in other.strides
        return self._inductor.adds_whole and not is_bias

    def _sum_of_product(self, each: Operation) -> Value:
        values: list[Value] = []
        factors: list[Value] = []
        for source in each.of:
            if self._sums_of_products.get(source) is each:
                factors = [self.values[factor] for factor in source.of]
                values += factors
            else:
                values.append(self.values[source])
        for value in values:
            self.realize(value.box)
        reads = [dependency_on(memory_of(value), 0, (), ()) for value in values]
        return self._product(each, reads, factors)

    def _several(self, each: Operation, values: Sequence[Value], reads: Sequence[object]) -> Value:
        kernel = Kernel(LIBRARY, tuple(reads), (), 1, op=each.op)  # type: ignore[arg-type]
        self._add(kernel)
        elements = []
        unused = [part for part in each.parts if part not in self._own and part.nbytes]
        passing = [self._passing(part) for part in unused]
        scratch, kernel.ahead = self._scratch(each), each.ahead
        ahead, rest = scratch[: each.ahead], scratch[each.ahead :]
        kernel.scratch = (*ahead, *passing, *rest, *reversed(passing))  # a tuple goes last first
        for place, part in enumerate(each.parts):
            if part in unused or not part.nbytes:
                self._unread += 1
                continue
            strides = _strides_of(each, values, place)
            memory = self._memory(part.shape, strides, part.dtype, part.role, pads=False)
            memory.part = True
            elements.append(memory)
            write = dependency(Access(memory, 0, memory.strides), part.shape)
            taken = Kernel(LIBRARY, (), (write,), 1, op=ops.GETITEM)
            taken.after = (kernel,)
            self._add(taken)
            box = Box(part.shape, strides, part.dtype, part.role)
            box.memory = memory
            self.values[part] = Value(box, part.shape)
        if STATE_FIRST in each.settings:
            elements.sort(key=lambda memory: memory.dtype is not INT64)
        kernel.elements = tuple(elements)
        self._unread += NAMED_RESULTS.get(each.op, len(each.parts)) - len(each.parts)
        return self.values.get(each.parts[0]) or Value(self._empty(each), ())

    def _scratch(self, each: Operation) -> list[Memory]:
        """What the call makes and frees, each named at both moments."""
        made = {
            label: Memory("scratch", (elements,), (1,), FLOAT32, each.role.made(label))
            for label, elements in each.scratch
        }
        return [made[label] for label, _ in each.scratch]

    def _passing(self, part: Operation) -> Memory:
        known = self._passed.get(part)
        if known is None:
            known = self._passed[part] = Memory(
                "unused", part.shape, part.strides, part.dtype, part.role
            )
        return known

    def _empty(self, each: Operation) -> Box:
        return Box((), (), each.dtype, each.role)

    def _put(self, each: Operation) -> Value:
        """Zeros, or a copy of what is there, and a kernel that writes into it by index."""
        before: list[Dependency] = []
        if each.op is ops.INDEX_PUT:
            first, *rest = (self.values[it] for it in each.of)
            before = [dependency(access, each.shape) for access in first.loads()]
            count = 1 if len(rest) == 1 else len(rest) - 1
            indices, values = rest[:count], rest[count:]
            shape = indices[0].shape
        else:
            *indices, source = (self.values[it] for it in each.of)
            values, shape = [source], source.shape
        if values:
            shape = values[0].shape
        pads = each not in self._dense
        zeros = self._memory(each.shape, each.strides, each.dtype, each.role, pads=pads)
        write = dependency(Access(zeros, 0, zeros.strides), each.shape)
        made = Kernel(LOOPS, before, (write,), prod(each.shape))
        self._add(made)
        kind = LOOPS
        if FALLS_BACK in each.settings:
            kind = LIBRARY
            for value in (*indices, *values):
                self.realize(value.box)
        read = [access for index in indices for access in over(index, each, shape)]
        read += [access for value in values for access in value.loads()]
        inwards = loop_order(read, shape) or range(len(shape) - 1, -1, -1)
        order = tuple(reversed(inwards))
        loops, step = tuple([shape[dim] for dim in order]), (ops.PERMUTE, *order)
        reads = [dependency(stepped(access, step, shape, loops), loops) for access in read]
        kernel = Kernel(kind, reads, (), prod(shape), op=each.op)
        kernel.scratch = tuple(self._scratch(each))
        kernel.mutates, kernel.after = (zeros,), (made,)
        self._add(kernel)
        summed = Memory(kernel.name, zeros.shape, zeros.strides, zeros.dtype, zeros.role)
        summed.storage, summed.of = zeros, kernel.number
        box = Box(each.shape, each.strides, each.dtype, each.role)
        box.memory = summed
        return Value(box, each.shape)


def _is_small(product: Operation) -> bool:
    """``_use_small_mm_pointwise``."""
    rows, columns = product.shape
    return rows >= LEAST_ROWS and columns < SMALL and product.of[0].shape[1] < SMALL


def _is_readable(value: Value, *, is_late: bool) -> bool:
    """Whether cuBLAS reads a matrix as it lies. Behind a view of what ``is_late`` a dimension of
    one has no stride (ir.py, ``convert_to_reinterpret_view``)."""
    (access,) = value.loads()
    shape, strides = value.shape[-2:], access.strides[-2:]
    before = (value.box.shape, *(shape for _, shape in value.views))
    if is_late and any(
        step[0] is not ops.EXPAND or one != other
        for (step, other), one in zip(value.views, before, strict=False)
    ):
        strides = tuple([0 if size == 1 else by for size, by in zip(shape, strides, strict=True)])
    return bool(access.tag) or is_readable(shape, strides)


def _copy(value: Value, of: Operation) -> Memory:
    """What ATen makes of one that it does not (cuda/Blas.cpp, prepare_batch_matrix_for_cublas)."""
    return Memory("copy", value.shape, contiguous_strides(value.shape), of.dtype, value.box.role)


def _strides_of(each: Operation, values: Sequence[Value], place: int) -> Strides:
    """Of a result: what it lies as may lie otherwise in memory than was traced."""
    part, source = each.parts[place], LYING_AS.get(each.op, {}).get(place)
    if source is None or each.of[source].strides != part.strides:
        return part.strides
    (access,) = values[source].loads()
    return access.strides
