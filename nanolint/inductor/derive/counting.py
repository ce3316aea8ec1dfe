"""How many steps a result takes: torch/_inductor/ops_handler.py, ``OpCounterCSE``, 2.13.0.

What is computed alike is counted once. What is computed of two elements is not: of those that two
parts of a tensor have, or that are joined or put into a whole; and each element is asked whether it
is in a part (lowering.py, ``cat``, ``select_scatter``, ``slice_scatter``).

How many operations the matrix products of a graph take (``tensors/work.py``).
"""

from __future__ import annotations

from itertools import product as combinations
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nanolint.inductor.derive.operations import BIASED, PRODUCTS
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.work import of_attention, of_convolution, of_product, swapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.inductor.derive.operations import Operation
    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.ops.registry import Op


PUT_SOMEWHERE = 6  # a part at a place that is not known

LARGEST_POWER = 32
# Those whose operands are brought to the type of the result before.
CONVERTING = frozenset({ops.CONVERT, ops.ADD, ops.ADDCMUL, ops.SUB, ops.MUL, ops.DIV})


def nodes_in(op: Op, result: Dtype) -> tuple[int, int]:
    """The nodes of PyTorch's graph: on the shortest way through an operation on elements, all."""
    shortest, every = op.nodes
    casts = 2 * is_half(result) if every > 1 else 0
    return shortest + casts, every + casts


def is_half(dtype: Dtype) -> bool:
    """Whether it is a float of half precision."""
    return dtype.kind == FLOAT32.kind and dtype.itemsize < FLOAT32.itemsize


def times_made(each: Operation, place: int) -> int:
    """How often an operation on elements makes what it is of: what is not memory, it makes anew
    wherever its formula has it. What comes back a gradient reads once."""
    return each.op.times_made if place or len(each.of) == 1 else 1


def uses(each: Operation, source: Operation) -> int:
    """How many nodes of PyTorch's graph read a source, of those that an operation on elements is:
    of activations that are several, and of their gradients, at least two."""
    return 2 if each.op.casts and source is each.of[-1] else 1


def _products_of(power: Operation) -> Iterator[object]:
    """The steps of a power: products of products (lowering.py, ``pow_recursive``), or a root."""
    how = power.settings[-1]
    exponent = float(how) if isinstance(how, str) else 1 / 3
    if not exponent.is_integer() or abs(exponent) > LARGEST_POWER:
        yield exponent
        if exponent != 1 / 2:
            yield "exponent", exponent
        return
    if exponent < 0:
        yield "reciprocal"
    left = abs(int(exponent))
    while left > 1:
        yield left
        if left % 2:
            yield left - 1
        left //= 2


class Moved(NamedTuple):
    """An operation of a kernel, of other elements than those that are asked for: ``moved`` is a
    dimension, counted from the last, and how far they are along it; sorted. Of a part that is taken
    from the beginning they are as far as that, 0, until it is put somewhere."""

    operation: Operation
    moved: tuple[tuple[int, object], ...]


# An operation of a kernel.
Step: TypeAlias = "Operation | Moved"


def operation_of(step: Step) -> Operation:
    """The operation itself, wherever its elements are."""
    return step.operation if isinstance(step, Moved) else step


def _away(step: Step, place: int, by: object, *, is_cut: bool) -> Step:
    """As much further along a dimension, or at some other place there."""
    moved = dict(step.moved) if isinstance(step, Moved) else {}
    before = moved.pop(place, 0)
    both = isinstance(before, int) and isinstance(by, int)
    after = before + by if both else (before, by)  # type: ignore[operator]
    if after or is_cut:
        moved[place] = after
    operation = operation_of(step)
    return Moved(operation, tuple(sorted(moved.items(), key=_first))) if moved else operation


def _first(pair: tuple[int, object]) -> int:
    return pair[0]


def away(
    steps: frozenset[Step],
    shape: Shape,
    dim: int,
    by: object,
    whole: int | None = None,
    *,
    is_cut: bool = False,
) -> frozenset[Step]:
    """These steps, of a result of ``shape``, at elements that lie elsewhere along ``dim``: those
    that have it, or have a part of it taken; in another shape those of ``whole``, the number of all
    elements. ``is_cut`` if a part is taken, be it from the beginning."""
    place = dim - len(shape)
    elements = prod(shape) if whole is None else whole

    def has(step: Step) -> bool:
        made = operation_of(step).shape
        if prod(made) == elements:  # in another shape, maybe
            return True
        if whole is not None:
            return False
        if isinstance(step, Moved) and any(at == place for at, _ in step.moved):
            return True
        return len(made) >= -place and made[place] == shape[dim]

    if not (by or is_cut or any(isinstance(each, Moved) for each in steps)):
        return steps
    return frozenset(_away(each, place, by, is_cut=is_cut) if has(each) else each for each in steps)


def unrolled(
    each: Operation,
    of_each: frozenset[Step],
    shape: Shape,
    over: Sequence[object],
    whole: int | None = None,
) -> frozenset[Step]:
    """The steps of a reduction that is written out: those of each element, and what joins two.
    ``whole`` is as for ``away``."""
    found: set[Step] = set()
    dims = [dim for dim in range(len(shape)) if dim in over]
    places = list(combinations(*(range(shape[dim]) for dim in dims)))
    for number, place in enumerate(places):
        steps = of_each
        for dim, at in zip(dims, place, strict=True):
            steps = away(steps, shape, dim, ("at", at), whole)
        found |= steps
        if number:
            found.add(Moved(each, ((0, number),)))
    return frozenset(found)


def own_steps_of(operation: Operation) -> int:
    """How many an operation takes by itself."""
    own, words = _own(operation)
    return own + len(words)


def _own(operation: Operation) -> tuple[int, tuple[tuple[object, ...], ...]]:
    """Its own steps, and the words of what it asks for; counted once."""
    if operation.asks is None:
        is_word = operation.op is ops.FULL and operation.settings
        own = 0 if is_word else operation.cost
        operation.asks = own, tuple(_words(operation))
    return operation.asks


def steps_of(steps: Iterable[Step]) -> int:
    """How many these are, without what they read."""
    count, asked = 0, set[object]()
    for each in steps:
        own, words = _own(operation_of(each))
        count += own
        if words:
            moved = each.moved if isinstance(each, Moved) else ()
            for word in words:
                asked.add((word, moved) if word[0] in OF_ELEMENTS else word)
    return count + len(asked)


# Of what is asked for: what is of an element, which another has of its own.
OF_ELEMENTS = frozenset({ops.CONVERT, ops.POW})


def _words(operation: Operation) -> Iterator[tuple[object, ...]]:
    """What it asks for beside its own step, each once for all that ask: by a word of its own."""
    if operation.op in CONVERTING:
        for each in operation.of:
            if each.dtype is not operation.dtype:
                yield ops.CONVERT, each, operation.dtype
    for number in operation.numbers:  # lowering.py, ``promote_constants``; one over a divisor
        kind = operation.of[0].dtype if operation.of else operation.dtype
        yield type(number) is int, number, kind, operation.op is ops.DIV
    if operation.op is ops.FULL and operation.settings:
        # As one of an operation.
        yield False, _number(operation.settings[0]), operation.dtype, False
    if operation.op is ops.POW:
        yield from ((ops.POW, operation.of[0], each) for each in _products_of(operation))
    if operation.op is ops.SCATTER_PART:
        yield from (("part", word) for word in _asked(operation))


def _number(told: object) -> object:
    """A number by its text; another text as it is."""
    try:
        return float(str(told))
    except ValueError:
        return told


def _asked(part: Operation) -> Iterator[object]:
    """What is computed to put a part into a whole, each by a word of its own."""
    kind, dim, start, *rest = part.settings
    if not isinstance(dim, int) or not isinstance(start, int) or start < 0:
        yield from ((part, place) for place in range(PUT_SOMEWHERE))
        return
    source, *wholes = part.of
    place = kind, len(part.shape), dim
    yield part, "where"
    if not wholes:
        yield "zero", part.dtype
    yield place
    if kind is ops.SELECT:
        yield "number", start
        yield place, "is", start
        return
    (step,) = rest
    assert isinstance(step, int)
    end = start + source.shape[dim] * step
    masks: list[object] = []
    if start:
        yield "number", start
        masks.append((place, "from", start))
    if end < part.shape[dim]:
        yield "number", end
        masks.append((place, "below", end))
    if step > 1:
        yield from (("remainder", place, start, step), "no remainder")
        masks.append((place, "every", start, step))
    yield from masks
    yield from (tuple(masks[: count + 1]) for count in range(1, len(masks)))  # all of them
    yield part, "masked"


ATTENTION = frozenset({ops.FLASH, ops.EFFICIENT, ops.FLASH_THREE, ops.CUDNN})
ATTENTION_BACKWARD = frozenset({each.gradient for each in ATTENTION})


def flops_of(operations: Iterable[Operation], device: Device) -> dict[str, int]:
    """By what they compute in."""
    found: dict[str, int] = {}
    for each in operations:
        flops = _flops(each)
        if flops:
            kind = device.kind_of(each.of[-1 if each.op in BIASED else 0].dtype)
            found[kind] = found.get(kind, 0) + flops
    return found


def _flops(each: Operation) -> int:
    shapes = [source.shape for source in each.of]
    if each.op in PRODUCTS:
        return of_product(each.shape, shapes[1 if each.op in BIASED else 0][-1])
    is_backward = each.op in ATTENTION_BACKWARD
    if is_backward or each.op in ATTENTION:
        q, k, v = shapes[1:4] if is_backward else shapes[:3]
        if each.op in {ops.FLASH_THREE, ops.FLASH_THREE_BACKWARD}:
            q, k, v = swapped(q), swapped(k), swapped(v)
        return of_attention(q, k, v, backward=is_backward)
    if each.op is ops.CONVOLUTION:
        return of_convolution(each.shape, shapes[1])
    if each.op is ops.CONVOLUTION_BACKWARD:
        return len(each.parts) * of_convolution(shapes[0], shapes[2])
    return 0
