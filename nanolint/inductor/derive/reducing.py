"""Reductions: which there are, and what two are made in one pass (torch/_inductor/lowering.py).

A factor is taken out of a softmax: the largest element is looked for before it is multiplied.

torch/_inductor/fx_passes/joint_graph.py, ``mul_softmax_pattern`` and ``div_softmax_pattern``. From
2.13 on rows that are not finite keep what they had, by
``_preserve_scaled_softmax_nonfinite_semantics``: then both maxima, and which rows are finite, are
kept for the backward pass.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from nanolint.inductor.derive.access import (
    Access,
    Box,
    Value,
    dependency,
    inlined,
    outwards,
    stepped,
)
from nanolint.inductor.derive.counting import unrolled
from nanolint.inductor.derive.kernels import SUMS, Kernel
from nanolint.inductor.derive.operations import PLACES, WITH_PLACES, Operation
from nanolint.inductor.derive.summing import UNROLLED, Summing
from nanolint.tensors.device import NotTraced
from nanolint.tensors.dtypes import BOOL, FLOAT32
from nanolint.tensors.ops import registry as ops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.operations import Operations, Setting
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.ops.registry import Op


SCANNED = 256  # elements, of those that are split: min_split_scan_rblock in config.py


class Reducing(Summing):
    """Lowers reductions."""

    def _reduction(self, each: Operation) -> Value:
        if each.op is ops.VAR_MEAN:
            return self._welford(each)
        if each in self._softmax:
            return self.values[each]
        (source,) = each.of
        value = self.values[source]
        if each.op is ops.CUMSUM:
            return self._scan(each, value)
        over = each.settings[0]
        assert isinstance(over, tuple)
        if each.op is ops.VAR:
            return self._variance(each, value, over)
        if each.op is ops.AMAX:
            softmax = self._softmax_of(each)
            if softmax is not None:
                return self._online(each, softmax, value)
        dtype = FLOAT32 if each.op is ops.MEAN and each.dtype.itemsize < 4 else each.dtype
        box = self._reduced(each, value, over, dtype)
        if box.memory is not None and self._is_without_places(each):
            self._unread += 1
        if each.op is ops.MEAN:
            steps = frozenset({each}) | (frozenset() if box.memory else box.steps)
            inner = Value(box, box.shape).viewed((ops.VIEW,), each.shape)
            return inlined(each, tuple(inner.loads()), steps)
        return Value(box, box.shape).viewed((ops.VIEW,), each.shape)

    def _is_without_places(self, each: Operation) -> bool:
        """Whether they are the largest elements, or the smallest, whose places nobody reads: these
        have a name all the same (lowering.py, ``reduce_max``)."""
        places = PLACES.get(each.op)
        if WITH_PLACES not in each.settings or places is None:
            return False
        return not any(
            user.op is places and user.settings == each.settings for user in self._users[each.of[0]]
        )

    def _scan(self, each: Operation, value: Value) -> Value:
        """``Scan``: a sum to the scheduler, whose result is memory of the whole shape. One that is
        split takes a workspace (codegen/triton_split_scan.py)."""
        over = each.settings[0]
        assert isinstance(over, tuple)
        kept, gone, order = self._loops(value, over)
        if prod(gone) <= 1:
            return inlined(each, tuple(value.loads()), value.steps)
        memory = self._memory(each.shape, each.strides, each.dtype, each.role)
        reads = self._counted_in(value, order, (*kept, *gone))
        written = stepped(
            Access(memory, 0, memory.strides), (ops.PERMUTE, *order), value.shape, (*kept, *gone)
        )
        of_kept = [
            access._replace(strides=access.strides[: len(kept)]) for access in (written, *reads)
        ]
        outer = outwards(of_kept, kept, (1, *reads.values()))
        loops = (*(kept[dim] for dim in outer), *gone)
        step = (ops.PERMUTE, *outer, len(kept))
        write, *depends = [
            dependency(stepped(access, step, (*kept, *gone), loops), loops)
            for access in (written, *reads)
        ]
        kernel = Kernel(SUMS, depends, (write,), prod(kept), prod(gone), op=each.op)
        kernel.scans = True
        if self._splits(list(reads), kept, gone) > 1:
            blocks = kernel.numel * -(-kernel.rnumel // SCANNED)
            kernel.workspace = blocks * (24 if each.dtype.itemsize == 8 else 8)
        self._add(kernel)
        box = Box(each.shape, each.strides, each.dtype, each.role)
        box.memory = memory
        return Value(box, each.shape)

    def _welford(self, each: Operation) -> Value:
        """``var_mean``: the mean, and the sum of squares, which is divided where it is read."""
        value = self.values[each.of[0]]
        over = each.settings[0]
        assert isinstance(over, tuple)
        self._refuse_several(value, over)
        variance, mean = each.parts
        means, squares = self._two((mean, variance), value, over, each.op)
        self._unread += 1  # ``WelfordReduction``: the weights
        for part, memory in ((mean, means), (variance, squares)):
            box = Box(memory.shape, memory.strides, FLOAT32, part.role)
            box.memory = memory
            seen = Value(box, memory.shape).viewed((ops.VIEW,), part.shape)
            if part is variance:
                seen = inlined(part, tuple(seen.loads()), frozenset({part}))
            self.values[part] = seen
        return self.values[mean]

    def _variance(self, each: Operation, value: Value, over: Sequence[object]) -> Value:
        """``var``: the sum of squares, which is divided where it is read; the mean is nobody's."""
        self._refuse_several(value, over)
        self._unread += 1  # ``WelfordReduction``: the mean
        (squares,) = self._two((each,), value, over, each.op)
        self._unread += 1  # the weights
        box = Box(squares.shape, squares.strides, FLOAT32, each.role)
        box.memory = squares
        seen = Value(box, squares.shape).viewed((ops.VIEW,), each.shape)
        return inlined(each, tuple(seen.loads()), frozenset({each}))

    def _refuse_several(self, value: Value, over: Sequence[object]) -> None:
        kept, gone, order = self._loops(value, over)
        reads = self._counted_in(value, order, (*kept, *gone))
        if prod(gone) < UNROLLED or self._splits(list(reads), kept, gone) > 1:
            raise NotTraced("a variance of few elements, or in several steps")

    def _softmax_of(self, top: Operation) -> tuple[Operation, Operation, Operation] | None:
        """``prepare_softmax_pattern`` (fx_passes/post_grad.py): with this maximum, a difference,
        its exponential and their sum."""
        for difference in self._users.get(top, {}):
            if difference.op is not ops.SUB or difference.of[0] is not top.of[0]:
                continue
            for exponential in self._users.get(difference, {}):
                if exponential.op is not ops.EXP:
                    continue
                for summed in self._users.get(exponential, {}):
                    if summed.op is ops.SUM and summed.settings == top.settings:
                        return difference, exponential, summed
        return None

    def _online(
        self, top: Operation, softmax: tuple[Operation, Operation, Operation], value: Value
    ) -> Value:
        """``prepare_softmax_online``: the sum is of exponentials of its own."""
        _, exponential, summed = softmax
        over = top.settings[0]
        assert isinstance(over, tuple)
        self._users[exponential].pop(summed)
        if prod(self._loops(value, over)[1]) < UNROLLED:
            box = self._reduced(top, value, over, FLOAT32)
            of_each = value.steps | set(softmax[:2])
            steps = box.steps | unrolled(summed, of_each, value.shape, over, value.whole)
            boxes = [box, Box(box.shape, box.strides, FLOAT32, summed.role, box.reads, steps)]
        else:
            found = self._two((top, summed), value, over, top.op)
            boxes = [Box(it.shape, it.strides, FLOAT32, it.role) for it in found]
            for box, memory in zip(boxes, found, strict=True):
                box.memory = memory
        for each, box in zip((top, summed), boxes, strict=True):
            self.values[each] = Value(box, box.shape).viewed((ops.VIEW,), each.shape)
            self._softmax[each] = top
        return self.values[top]


FACTORS = frozenset({ops.MUL, ops.DIV})


class _Scaled(NamedTuple):
    """``difference`` is of ``whole`` and its largest; ``whole`` is ``linear``, or converted."""

    difference: Operation
    top: Operation
    whole: Operation
    linear: Operation
    inner: Operation
    factor: Operation | None  # None is a number


def take_out_factors(graph: Operations, *, keeps_nonfinite: bool) -> None:
    """Rewrite each scaled difference from its largest element, as Inductor does."""
    matches = [match for each in graph.all if (match := _match(each)) is not None]
    if not matches:
        return
    for found in matches:
        made = _Replacement(found, keeps_nonfinite=keeps_nonfinite)
        place = graph.all.index(found.difference)
        graph.all[place:place] = made.operations
        graph.replace({found.difference: made.result})
    graph.drop_dead()
    graph.connect()


def _match(difference: Operation) -> _Scaled | None:
    if difference.op is not ops.SUB or len(difference.of) != 2:
        return None
    whole, top = difference.of
    if top.op is not ops.AMAX or top.of != (whole,) or len(top.users) != 1:
        return None
    linear = whole.of[0] if whole.op is ops.CONVERT else whole
    rounds = any(isinstance(each, str) for each in linear.settings)
    if linear.op not in FACTORS or rounds or not linear.of:
        return None
    if len(linear.of) == 1:
        number_first = linear.settings and linear.settings[0] is not None
        if linear.op is ops.DIV and number_first:
            return None
        return _Scaled(difference, top, whole, linear, linear.of[0], None)
    pairs = [linear.of] if linear.op is ops.DIV else [linear.of, linear.of[::-1]]
    for inner, factor in pairs:
        if _is_same_in(factor, inner, top.settings[0]):
            return _Scaled(difference, top, whole, linear, inner, factor)
    return None


def _is_same_in(factor: Operation, inner: Operation, dims: Setting) -> bool:
    """``_other_is_broadcasted_in_dim``."""
    missing = len(inner.shape) - len(factor.shape)
    if missing < 0 or not isinstance(dims, tuple):
        return False
    shape = (1,) * missing + factor.shape
    return all(isinstance(dim, int) and shape[dim] == 1 for dim in dims)


class _Replacement:
    """The operations in the place of one difference, in order; ``result`` is the last."""

    def __init__(self, found: _Scaled, *, keeps_nonfinite: bool) -> None:
        self.operations: list[Operation] = []
        self._found = found
        self._region = found.difference.region
        whole, top = found.whole, found.top
        scaled = self._scaled() if keeps_nonfinite else None
        inner = found.inner
        if whole.op is ops.CONVERT:
            inner = self._like(ops.CONVERT, (inner,), whole.dtype, of=inner)
        number = found.linear.settings
        if found.factor is None:
            signed = self._like(ops.MUL, (inner,), inner.dtype, None, 1, of=inner)
            scale: tuple[Operation, ...] = ()
        else:
            number = ()
            sign, factor = self._sign(found.factor, inner.dtype)
            signed = self._like(ops.MUL, (inner, sign), inner.dtype)
            scale = (factor,)
        largest = self._largest(ops.AMAX, signed, inner.dtype)
        below = self._like(ops.SUB, (signed, largest), inner.dtype)
        stable = self._like(found.linear.op, (below, *scale), whole.dtype, *number)
        if scaled is None:
            self.result = stable
            return
        original = self._like(
            ops.SUB, (scaled, self._largest(ops.AMAX, scaled, top.dtype)), whole.dtype
        )
        absolute = self._like(ops.ABS, (scaled,), whole.dtype)
        finite = self._like(ops.LT, (absolute,), BOOL, None, 0)
        known = self._like(ops.EQ, (scaled, scaled), BOOL)
        both = self._like(ops.MUL, (known, finite), BOOL)
        rest = self._largest(ops.ANY, self._like(ops.LOGICAL_NOT, (both,), BOOL), BOOL)
        chosen = self._like(ops.LOGICAL_NOT, (rest,), BOOL, of=rest)
        self.result = self._like(ops.WHERE, (chosen, stable, original), whole.dtype)

    def _scaled(self) -> Operation:
        """What was scaled, once more."""
        found = self._found
        linear = found.linear
        again = self._like(linear.op, linear.of, linear.dtype, *linear.settings, of=linear)
        if found.whole.op is not ops.CONVERT:
            return again
        return self._like(ops.CONVERT, (again,), found.whole.dtype)

    def _sign(self, factor: Operation, dtype: Dtype) -> tuple[Operation, Operation]:
        """The sign of a factor, and the factor times it."""
        one = self._made(Operation(ops.FULL, (), (), (), dtype, factor.role))
        minus = self._like(ops.NEG, (one,), dtype, of=one)
        positive = self._like(ops.GE, (factor,), BOOL, None, 0, of=factor)
        sign = self._like(ops.WHERE, (positive, one, minus), dtype, of=factor)
        return sign, self._like(ops.MUL, (sign, factor), dtype, of=factor)

    def _like(
        self,
        op: Op,
        sources: tuple[Operation, ...],
        dtype: Dtype,
        *settings: Setting,
        of: Operation | None = None,
    ) -> Operation:
        like = of or self._found.whole
        made = Operation(op, sources, like.shape, like.strides, dtype, like.role, settings)
        made.numbers = tuple([each for each in settings if isinstance(each, (int, float))])
        return self._made(made)

    def _made(self, made: Operation) -> Operation:
        made.region = self._region
        self.operations.append(made)
        return made

    def _largest(self, op: Op, source: Operation, dtype: Dtype) -> Operation:
        """A reduction over what the largest element was looked for in."""
        top = self._found.top
        made = Operation(op, (source,), top.shape, top.strides, dtype, top.role, top.settings)
        return self._made(made)
