"""Which results become memory, and which are inlined (torch/_inductor/ir.py, ``StorageBox``)."""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import (
    Access,
    Box,
    Memory,
    Value,
    dependency,
    in_order,
    lying_as,
    op_of,
    outwards,
    padded,
    stepped,
)
from nanolint.inductor.derive.kernels import LIBRARY, LOOPS, Kernel
from nanolint.inductor.derive.operations import (
    CALL,
    GETITEM,
    POINTWISE,
    PRODUCTS,
    VIEW,
    Operation,
    base_of,
)
from nanolint.tensors.layout import contiguous_strides, is_contiguous
from nanolint.tensors.ops import registry as ops

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from nanolint.inductor.inductor import Inductor
    from nanolint.tensors.device import Asked
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role

# torch/_inductor/config.py
MOST_READS = 4  # realize_reads_threshold: of a result that is used more than once
MOST_ACCUMULATED = 8  # _realize_acc_reads_threshold_default
# graph.py, ``need_fixed_layout``: what others read too has the strides that it was traced with.
FIXED_LAYOUT = frozenset({ops.MM, ops.CONVOLUTION_BACKWARD})
# Not elementwise to Inductor's passes, though they are computed element by element.
LOOKED_UP = frozenset({ops.EMBEDDING, ops.GATHER, ops.INDEX})
OTHER_READERS = LOOKED_UP | {ops.CAT, ops.SCATTER_PART, ops.PAD, ops.FLIP}


class Realizing:
    """Keeps kernels and values while a graph is lowered, and gives memory to results."""

    def __init__(
        self,
        operations: Sequence[Operation],
        inputs: Iterable[Operation],
        outputs: Iterable[Operation],
        *,
        dense: Container[Operation],
        lying: Mapping[Operation, Strides],
        seeded: Container[Operation],
        inductor: Inductor,
        asked: Asked,
    ) -> None:
        """``dense`` are what the caller sees, which lies as without compiling (graph.py,
        ``mark_nodes_dislike_padding``); ``lying`` how inputs lie that another graph made;
        ``seeded`` are those of ``regions.py``."""
        self._inductor = inductor
        self._dense = dense
        self._lying = lying
        self._seeded = seeded
        self._seen_before = set[Box]()  # what became memory for one of these, behind its views
        self.kernels: list[Kernel] = []
        self.values: dict[Operation, Value] = {}
        self.inputs: dict[Operation, Memory] = {}
        self._asked = asked
        self._outputs = set(outputs)
        self._users: dict[Operation, dict[Operation, None]] = {}
        self._own = own = set(operations)
        self._unread = 0  # buffers that have names, and that nobody reads
        self._has_regions = any(each.region for each in operations)
        self.joins_again = False  # parts of sums, in a checkpoint
        self._made_apart = set[Box]()  # of no reads, and written into a whole
        self._passed: dict[Operation, Memory] = {}
        self._handed: dict[Operation, Box] = {}
        self._reshaped = set[Operation]()  # seen in another shape
        self._called = set[Operation]()  # read by a call with several results
        for each in operations:
            for source in each.of:
                self._users.setdefault(source, {})[each] = None
            if each.op is ops.VIEW:
                self._reshaped.update(each.of)
            elif each.kind == CALL and each.parts:
                self._called.update(each.of)
        self._softmax: dict[Operation, Operation] = {}
        given = [each for each in inputs if each not in own]
        times = Counter(map(base_of, given))
        for each in given:
            self._input(each, is_alone=times[base_of(each)] == 1)
        self._sums_of_products: dict[Operation, Operation] = {}
        self._made_by_products: set[Operation] = set()
        self._fixed: set[Memory] = set()  # that lie where they lie: somebody has looked

    def _input(self, each: Operation, *, is_alone: bool) -> None:
        """Inputs are seen through the views that they were saved as. To Inductor each of them is
        memory of its own, whether or not it shares that of another."""
        base, steps = each, []
        while base.kind == VIEW:
            steps.append(base)
            (base,) = base.of
        box = Box(base.shape, base.strides, base.dtype, base.role)
        known = self.inputs.get(base)
        if known is None:
            strides = self._lying.get(base, base.strides)
            known = Memory(f"in{len(self.inputs)}", base.shape, strides, base.dtype, base.role)
            self.inputs[base] = known
        box.memory = known
        value = Value(box, base.shape)
        for view in reversed(steps):
            value = value.viewed((view.op, *view.settings), view.shape)
        if each.kind == VIEW and not (is_alone and each.nbytes == base.nbytes):
            value = self._part_given(each, value)
        self.values[each] = value

    def _part_given(self, each: Operation, value: Value) -> Value:
        """A view of what is handed in, as memory of its own; itself where no strides tell it."""
        (access,) = value.loads()
        if access.tag:
            return value
        name = f"{access.memory.name}, {len(self.values)}"
        memory = Memory(name, each.shape, access.strides, each.dtype, each.role)
        memory.storage = access.memory
        box = Box(each.shape, access.strides, each.dtype, each.role)
        box.memory = memory
        return Value(box, each.shape)

    def output(self, each: Operation) -> Memory:
        """The memory that hands an output out."""
        box = self._handed.get(each) or self.values[each].box
        return self.realize(box).storage

    def realize(self, box: Box) -> Memory:
        """Give it memory, which a kernel writes, in the order of loops that most of what it reads
        and writes have (ir.py, ``simplify_and_reorder``)."""
        if box.memory is None:
            if box.made_by is not None and self._lies_as_read(box.made_by):
                is_first = self._is_seen_first(box.made_by)
                if not is_first and self._is_multiplied_in_view(box.made_by):
                    box.strides = contiguous_strides(box.shape)
                elif box.made_by not in self._reshaped:
                    seen = self._seen(box.made_by, box.reads)
                    box.strides = lying_as(seen, box.shape, box.strides)
            memory = self._memory(box.shape, box.strides, box.dtype, box.role, pads=box.pads)
            written = Access(memory, 0, box.strides)
            order = outwards((written, *box.reads), box.shape, (1, *box.times))
            loops = tuple([box.shape[dim] for dim in order])
            step = (ops.PERMUTE, *order)
            write, *reads = [
                dependency(stepped(each, step, box.shape, loops), loops)
                for each in (Access(memory, 0, memory.strides), *box.reads)
            ]
            self._add(Kernel(LOOPS, reads, (write,), prod(box.shape), op=op_of(box)))
            box.memory = memory
        return box.memory

    def _keeps_order(self, each: Operation) -> bool:
        """Whether it lies in order once it is memory: it is seen in another shape (ir.py,
        ``View.create``), and has no strides yet (graph.py, ``run_node``, of what is handed out)."""
        return (
            self._inductor.sees_in_order
            and each in self._reshaped
            and each not in self._outputs
            and not any(user.op in FIXED_LAYOUT for user in self._users[each])
            and is_contiguous(each.shape, each.strides)
        )

    def _lies_as_read(self, each: Operation) -> bool:
        """Whether nobody asks how it lies: it is no copy, and not handed out."""
        if each.op is ops.CLONE or each in self._outputs:
            return False
        users = self._users.get(each, {})
        return not any(user.kind == VIEW and user in self._outputs for user in users)

    def _seen(self, each: Operation, reads: Sequence[Access]) -> tuple[Access, ...]:
        """The reads by which it is decided how a result lies. Where a view of it is made, or it is
        repeated, that is while what it reads may still lie in order (``FlexibleLayout``); else
        when all is lowered (graph.py, ``finalize``)."""
        users = self._users.get(each, {})
        if not any(
            user.kind == VIEW or (user.kind == POINTWISE and user.shape != each.shape)
            for user in users
        ):
            return tuple(reads)
        return tuple([each if self._is_decided(each.memory) else in_order(each) for each in reads])

    def _is_decided(self, memory: Memory) -> bool:
        if memory.of is None or memory in self._fixed:
            return True
        return self.kernels[memory.of].kind == LIBRARY

    def _is_seen_first(self, each: Operation) -> bool:
        """Whether it is memory before a view of its own shape is made, which decides how it lies
        (ir.py, ``as_storage_and_layout``)."""
        if each in self.values:
            return False
        for user in self._users.get(each, {}):
            if user.op is ops.EXPAND and user.shape == each.shape:
                return self._is_seen_first(user)  # no view to Inductor
            if user.kind == VIEW:
                return user.op is not ops.VIEW
        return False

    def _is_multiplied_in_view(self, each: Operation) -> bool:
        """Whether a product reads it through a view, for which it lies in order (ir.py,
        ``convert_to_reinterpret_view``)."""
        users = [user for user in self._users.get(each, {}) if user.kind == VIEW]
        return any(
            self._is_multiplied_in_view(user)
            or any(reader.op in PRODUCTS for reader in self._users.get(user, {}))
            for user in users
        )

    def _mark_reuse(self, box: Box) -> None:
        if box.memory is None and (box.is_large or len(box.reads) > MOST_READS):
            self.realize(box)

    def _repeat(self, box: Box, *, is_put: bool = False) -> None:
        """What is read in loops that have more to them (lowering.py, ``expand``)."""
        facts = self._inductor
        if not (facts.inlines_put if is_put else facts.inlines_repeated):
            self._mark_reuse(box)
        elif box.memory is None and box.is_large:
            self.realize(box)

    def _hint(self, box: Box) -> None:
        """``realize_hint``: a read of one element is none that counts."""
        if (
            box.memory is None
            and len(box.reads) > 1
            and sum([bool(each.tag or any(each.strides)) for each in box.reads]) > 1
        ):
            self.realize(box)

    def forget(self) -> None:
        """Let go of the memory of all kernels, which holds itself and what reads it."""
        kernels = self.kernels
        for each in {it.memory for kernel in kernels for it in (*kernel.reads, *kernel.writes)}:
            each.dependencies.clear()
            del each.storage

    def _memory(
        self, shape: Shape, strides: Strides, dtype: Dtype, role: Role, *, pads: bool = True
    ) -> Memory:
        if pads:
            strides = padded(shape, strides, dtype.itemsize)
        return Memory(self._name(), shape, strides, dtype, role)

    def _name(self) -> str:
        """Of the next buffer."""
        return f"buf{len(self.kernels) + self._unread}"

    def _add(self, kernel: Kernel) -> None:
        kernel.number, kernel.name = len(self.kernels), self._name()
        self.kernels.append(kernel)
        for write in kernel.writes:
            write.memory.of = kernel.number

    def _copied(self, value: Value, each: Operation, strides: Strides | None = None) -> Value:
        """``copy_input``: a copy with the strides that a product asks for, else its own."""
        reads, strides = tuple(dict.fromkeys(value.loads())), strides or each.strides
        box = Box(value.shape, strides, each.dtype, each.role, reads, value.steps)
        self._fixed.add(self.realize(box))
        return Value(box, value.shape)

    def _is_read_by_elements(self, each: Operation, others: Container[Op] = OTHER_READERS) -> bool:
        """Whether all that read it do so; ``others`` are those that do not."""
        if each in self._outputs:
            return False
        return all(self._reads_elements(user, others) for user in self._users.get(each, {}))

    def _reads_elements(self, user: Operation, others: Container[Op] = OTHER_READERS) -> bool:
        """``is_pointwise_use``."""
        if user.kind in {VIEW, GETITEM}:
            return self._is_read_by_elements(user, others)
        pointwise = user.kind == POINTWISE and user.op not in others
        return pointwise and user not in self._made_by_products
