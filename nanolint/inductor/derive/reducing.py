"""Reductions: which there are, and what two are made in one pass (torch/_inductor/lowering.py)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import Access, dependency, stepped
from nanolint.inductor.derive.counting import unrolled
from nanolint.inductor.derive.kernels import SUMS, Kernel
from nanolint.inductor.derive.operations import REDUCTION, WITH_PLACES, Operation
from nanolint.inductor.derive.summing import UNROLLED, Summing
from nanolint.inductor.derive.values import Box, Value, inlined, outwards
from nanolint.tensors.device import NotTraced
from nanolint.tensors.dtypes import FLOAT32

if TYPE_CHECKING:
    from collections.abc import Sequence

SCANNED = 256  # elements, of those that are split: min_split_scan_rblock in config.py


class Reducing(Summing):
    """Lowers reductions."""

    def _reduction(self, each: Operation) -> Value:
        if each.name == "var_mean":
            return self._welford(each)
        if each in self._softmax:
            return self.values[each]
        (source,) = each.of
        value = self.values[source]
        if each.name == "scan":
            return self._scan(each, value)
        over = each.settings[0]
        assert isinstance(over, tuple)
        if each.name == "variance":
            return self._variance(each, value, over)
        if each.name == "amax":
            softmax = self._softmax_of(each)
            if softmax is not None:
                return self._online(each, softmax, value)
        dtype = FLOAT32 if each.name == "mean" and each.dtype.itemsize < 4 else each.dtype
        box = self._reduced(each, value, over, dtype)
        if box.memory is not None and self._is_without_places(each):
            self._unread += 1
        if each.name == "mean":
            steps = frozenset({each}) | (frozenset() if box.memory else box.steps)
            inner = Value(box, box.shape).viewed(("view",), each.shape)
            return inlined(each, tuple(inner.loads()), steps)
        return Value(box, box.shape).viewed(("view",), each.shape)

    def _is_without_places(self, each: Operation) -> bool:
        """Whether they are the largest elements, or the smallest, whose places nobody reads: these
        have a name all the same (lowering.py, ``reduce_max``)."""
        if WITH_PLACES not in each.settings or each.name.startswith("arg"):
            return False
        return not any(
            user.name == f"arg{each.name[1:]}" and user.settings == each.settings
            for user in self._users[each.of[0]]
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
            Access(memory, 0, memory.strides), ("permute", *order), value.shape, (*kept, *gone)
        )
        of_kept = [
            access._replace(strides=access.strides[: len(kept)]) for access in (written, *reads)
        ]
        outer = outwards(of_kept, kept, (1, *reads.values()))
        loops = (*(kept[dim] for dim in outer), *gone)
        step = ("permute", *outer, len(kept))
        write, *depends = [
            dependency(stepped(access, step, (*kept, *gone), loops), loops)
            for access in (written, *reads)
        ]
        kernel = Kernel(SUMS, depends, (write,), prod(kept), prod(gone), what="scan")
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
        means, squares = self._two((mean, variance), value, over, "var_mean")
        self._unread += 1  # ``WelfordReduction``: the weights
        for part, memory in ((mean, means), (variance, squares)):
            box = Box(memory.shape, memory.strides, FLOAT32, part.role)
            box.memory = memory
            seen = Value(box, memory.shape).viewed(("view",), part.shape)
            if part is variance:
                seen = inlined(part, tuple(seen.loads()), frozenset({part}))
            self.values[part] = seen
        return self.values[mean]

    def _variance(self, each: Operation, value: Value, over: Sequence[object]) -> Value:
        """``var``: the sum of squares, which is divided where it is read; the mean is nobody's."""
        self._refuse_several(value, over)
        self._unread += 1  # ``WelfordReduction``: the mean
        (squares,) = self._two((each,), value, over, "variance")
        self._unread += 1  # the weights
        box = Box(squares.shape, squares.strides, FLOAT32, each.role)
        box.memory = squares
        seen = Value(box, squares.shape).viewed(("view",), each.shape)
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
            if difference.name != "difference" or difference.of[0] is not top.of[0]:
                continue
            for exponential in self._users.get(difference, {}):
                if exponential.name != "exponential":
                    continue
                for summed in self._users.get(exponential, {}):
                    if summed.kind == REDUCTION and summed.settings == top.settings:
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
            found = self._two((top, summed), value, over, "online softmax")
            boxes = [Box(it.shape, it.strides, FLOAT32, it.role) for it in found]
            for box, memory in zip(boxes, found, strict=True):
                box.memory = memory
        for each, box in zip((top, summed), boxes, strict=True):
            self.values[each] = Value(box, box.shape).viewed(("view",), each.shape)
            self._softmax[each] = top
        return self.values[top]
