"""Concatenations: read element by element, or parts that are written into one memory
(torch/_inductor/lowering.py, ``cat``; ir.py, ``ConcatKernel``; 2.13.0)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import Access, Box, Value, dependency
from nanolint.inductor.derive.calling import FLEXIBLE
from nanolint.inductor.derive.counting import operation_of
from nanolint.inductor.derive.kernels import LIBRARY, SUMS, Kernel
from nanolint.inductor.derive.operations import REDUCTION, VIEW, Operation
from nanolint.inductor.derive.realizing import OTHER_READERS, Realizing
from nanolint.tensors.layout import contiguous_strides
from nanolint.tensors.ops import registry as ops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.inductor.derive.access import Memory

MOST_JOINED = 8  # max_complex_pointwise_cat_inputs
# ``additional_pointwise_ops``: these read their parts element by element, too.
OTHERS = OTHER_READERS - {ops.CAT, ops.PAD}


# Of 56 traces of such models (2.9, 2.13 and 2.15) 55 are equal, and one is 0.02 % too low.
JOINED_AGAIN = (
    "in which order torch.compile makes parts of sums that are joined again, in a checkpoint, "
    "is not known"
)


class Concatenating(Realizing):
    """The part of lowering that joins tensors."""

    def _parts(self, each: Operation, values: Sequence[Value]) -> Sequence[Value]:
        """What is joined; nothing where it is no concatenation."""
        if each.op is ops.CAT:
            return values
        if each.op is not ops.PAD or not self._inductor.keeps_shared_parts:
            return ()
        (value,) = values
        before, after = each.settings[::2], each.settings[1::2]
        wider = [place for place, side in enumerate(after) if side]
        if any(before) or len(wider) != 1:
            return ()  # ``_pad_as_cat``: behind the end of one dimension
        (place,) = wider
        more = after[place]
        if not isinstance(more, int) or more < 0:
            return ()
        around = list(value.shape)
        around[-1 - place] = more
        shape = tuple(around)
        box = Box(shape, contiguous_strides(shape), each.dtype, each.role)
        return value, Value(box, shape)

    def _is_read_anywhere(self, each: Operation, values: Sequence[Value]) -> bool:
        """Whether each reader looks for the part that it needs: ``pointwise_cat``."""
        read = {access.memory for value in values for access in value.box.loads}
        self.joins_again |= self._has_regions and any(map(self._is_sum, read))
        if len(values) > MOST_JOINED:
            return False
        if self._inductor.keeps_shared_parts and self._has_other_readers(each, values):
            return False
        copied = [self._needs_a_copy(value) for value in values]
        if any(copied) and self._users.get(each) and self._is_read_by_elements(each, OTHERS):
            return True
        return all(copied) and not self._follows_sums(each, values)

    def _needs_a_copy(self, value: Value) -> bool:
        """``should_lower_cat_input``."""
        memory = value.box.memory
        return memory is None or not self._is_flexible(memory)

    def _is_flexible(self, memory: Memory) -> bool:
        """Whether it may still lie anywhere: ``FlexibleLayout``."""
        if memory.of is None or memory in self._fixed:
            return False
        kernel = self.kernels[memory.of]
        return kernel.kind != LIBRARY or kernel.op in FLEXIBLE

    def _has_other_readers(self, each: Operation, values: Sequence[Value]) -> bool:
        """``any_input_has_multi_consumers``: who would compute a part once more."""
        for source, value in zip(each.of, values, strict=False):
            others = [user for user in self._users.get(source, {}) if user is not each]
            if not others and source not in self._outputs:
                continue
            is_made = value.box.memory is not None or value.box in self._made_apart
            if not is_made or any(self._reads_elements(user) for user in others):
                return True
        return False

    def _follows_sums(self, each: Operation, values: Sequence[Value]) -> bool:
        """``can_fuse_reduction``: the sums would be read for each element of the whole."""
        read = [{access.memory: None for access in value.box.loads} for value in values]
        sums = {memory for one in read for memory in one if self._is_sum(memory)}
        if self._inductor.keeps_shared_parts and len(values) > 1:
            for memory in read[0]:
                if memory in sums and all(memory in one for one in read):
                    if self._is_recombined(memory, each, values):
                        sums.discard(memory)
                    break
        return bool(sums)

    def _is_sum(self, memory: Memory) -> bool:
        if memory.of is None:
            return False
        return self.kernels[memory.of].kind == SUMS and not self.kernels[memory.of].scans

    def _is_recombined(self, memory: Memory, each: Operation, values: Sequence[Value]) -> bool:
        """``_cat_inputs_recombine_reduction``: sums over what is joined, for nobody else."""
        assert memory.of is not None
        kernel = self.kernels[memory.of]
        if kernel.numel * kernel.rnumel != prod(each.shape):
            return False
        steps = {operation_of(step) for value in values for step in value.steps}
        made = [
            one for one, value in self.values.items()
            if one.kind == REDUCTION and any(read.memory is memory for read in value.box.loads)
        ]  # fmt: skip
        return all(user in steps for one in made for user in self._readers(one))

    def _readers(self, each: Operation) -> list[Operation]:
        """Who reads it, through views."""
        found = []
        for user in self._users.get(each, {}):
            found += self._readers(user) if user.kind == VIEW else [user]
        return found

    def _joined(self, each: Operation, values: Sequence[Value]) -> Value:
        """``ConcatKernel``: parts are written where they lie in the whole, if they may; others are
        copied. No reader is launched together with the whole."""
        parts = [self._written_in_place(value, each) for value in values]
        strides = contiguous_strides(each.shape)
        pads = each not in self._dense
        whole = self._memory(each.shape, strides, each.dtype, each.role, pads=pads)
        for part in parts:
            part.inside = whole
        depends = [dependency(Access(part, 0, part.strides), part.shape) for part in parts]
        write = dependency(Access(whole, 0, whole.strides), each.shape)
        self._add(Kernel(LIBRARY, depends, (write,), prod(each.shape), op=ops.CAT))
        box = Box(each.shape, strides, each.dtype, each.role)
        box.memory = whole
        return Value(box, each.shape)

    def _written_in_place(self, value: Value, each: Operation) -> Memory:
        """``realize_into``."""
        box = value.box
        if box.memory is None and not box.reads:  # computed wherever it is read, all the same
            self._made_apart.add(box)  # (ir.py, ``ComputedBuffer.make_loader``)
        elif not value.views and box.dtype is each.dtype:
            if box.memory is None:
                box.pads = False
            memory = self.realize(box)
            if self._is_flexible(memory):
                self._fixed.add(memory)
                return memory
        reads = tuple(dict.fromkeys(value.loads()))
        strides = contiguous_strides(value.shape)
        copy = Box(value.shape, strides, each.dtype, box.role, reads, value.steps)
        copy.pads = False
        return self.realize(copy)
