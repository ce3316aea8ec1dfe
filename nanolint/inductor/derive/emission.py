"""From launches to the graph whose order and memory are planned (nanolint/inductor).

What only its own launch reads is no memory; what ends with a launch may be taken over by what that
launch makes (torch/_inductor/scheduler.py, ``decide_inplace_update``). A sum that is short enough
is computed at once; over a longer one its launch goes in loops, of which each reads again from
memory what another one has made (torch/_inductor/codegen/triton.py, and codegen/simd.py,
``generate_node_schedule``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.access import Memory
from nanolint.inductor.derive.groups import is_contiguous
from nanolint.inductor.derive.kernels import LIBRARY, SUMS, Kernel
from nanolint.inductor.graph import BOOL, FLOAT, HALF, INT, Buffer, Graph, Node, fused_sum_splits
from nanolint.tape.tape import Component
from nanolint.tensors import layout
from nanolint.tensors.dtypes import BFLOAT16, FLOAT16, FLOAT32, INT64, UINT8
from nanolint.tensors.dtypes import BOOL as BOOLEAN
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.sums import scratch_bytes

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from nanolint.inductor.derive.groups import Group
    from nanolint.inductor.derive.operations import Operation
    from nanolint.tensors.device import Asked
    from nanolint.tensors.dtypes import Dtype

    Readers = Mapping[Memory, Sequence[tuple[Group, Kernel]]]

HELD_IN_ROWS, HELD_ELSEWHERE = 1024, 64  # elements
# codegen/simd_kernel_features.py: bytes along a sum for one across, of any and of short ones.
MUCH_MORE, MORE, SHORT = 32, 16, 512


class Held:
    """Which memory the launches of a graph hold. ``weighs``: see ``Inductor``."""

    def __init__(self, readers: Readers, *, weighs: bool) -> None:
        self._readers = readers
        self._weighs = weighs
        self._loops: dict[Group, dict[int, int]] = {}  # of those that were asked for

    def is_inside(self, memory: Memory, group: Group) -> bool:
        """Whether nobody reads it but its own launch, which holds it."""
        return self._is_its_own(memory, group) and not (
            self._is_looped(group) and self._is_read_again(memory, group)
        )

    def _is_its_own(self, memory: Memory, group: Group) -> bool:
        readers = self._readers.get(memory, ())
        return not memory.kept and all(reader is group for reader, _ in readers)

    def _is_read_again(self, memory: Memory, group: Group) -> bool:
        """Whether it is read in another loop than it was made in (codegen/common.py,
        ``invalidated_stores``)."""
        maker = next((each for each in group.kernels if each.number == memory.of), None)
        if maker is None or (maker.kind == SUMS and not maker.scans):
            return False
        if maker.made != group.numel * group.rnumel:
            return False
        loops = self._loops.get(group)
        if loops is None:
            loops = self._loops[group] = loops_of(group)
        return any(
            loops[reader.number] != loops[maker.number]
            for _, reader in self._readers.get(memory, ())
        )

    def _is_looped(self, group: Group) -> bool:
        """Whether its sums are too long to be held at once (choices.py,
        ``should_use_persistent_reduction``)."""
        if not group.sums or group.rnumel <= HELD_ELSEWHERE:
            return False
        return group.rnumel > HELD_IN_ROWS or not (is_contiguous(group) or self._goes_along(group))

    def _goes_along(self, group: Group) -> bool:
        """``tiling_scores_suggest_inner_reduction``: whether it goes along its sums through many
        more bytes than across, element by element; those that are written count twice."""
        if not self._weighs:
            return False
        along, across = 0, 0
        made = {write.memory for kernel in group.kernels for write in kernel.writes}
        reads = {read for kernel in group.kernels for read in kernel.reads}
        writes = {write for kernel in group.kernels for write in kernel.writes}
        counted = [
            *((each, 1) for each in reads if each.memory not in made),
            *((each, 2) for each in writes if not self._is_its_own(each.memory, group)),
        ]
        for each, times in counted:
            if each.tag or not each.loops or each.loops[-1][1] != 1:
                continue
            if each.numel == group.rnumel or group.numel < each.numel:
                along += times * each.nbytes
            else:
                across += times * each.nbytes
        least = MUCH_MORE if group.rnumel > SHORT else MORE
        return along >= least * max(1, across)


def loops_of(group: Group) -> dict[int, int]:
    """The loop of each kernel, by number: one ends before what reads a sum of it, and before what
    each sum is read by once. What shares nothing with a loop begins another, if nothing after it
    does."""
    found: dict[int, int] = {}
    current: list[Kernel] = []
    sums: list[Kernel] = []
    used: set[Memory] = set()
    split: int | None = None
    loop = 0

    def close() -> None:
        nonlocal loop, split
        for place, each in enumerate(current):
            found[each.number] = loop + (split is not None and place >= split)
        loop += 2
        split = None
        current.clear()
        sums.clear()
        used.clear()

    for kernel in group.kernels:
        if (kernel.numel, kernel.rnumel) == (group.numel, 1) and group.rnumel != 1:
            close()
            found[kernel.number] = loop
            continue
        if any(precedes(each, kernel, group) for each in sums):
            close()
        read = {each.memory for each in kernel.reads}
        if not used or used & read:
            split = None
        elif split is None:
            split = len(current)
        current.append(kernel)
        used |= read
        if kernel.kind == SUMS and not kernel.scans:  # ``schedule_node_in_loop``
            sums.append(kernel)
        else:
            used.update(each.memory for each in kernel.writes)
    split = None
    close()
    return found


def precedes(one: Kernel, other: Kernel, group: Group) -> bool:
    """Whether ``other`` waits for ``one`` inside the launch."""
    inside = {kernel.number: kernel for kernel in group.kernels}
    unseen, seen = [other], {other.number}
    while unseen:
        for read in unseen.pop().reads:
            maker = read.memory.of
            if maker == one.number:
                return True
            if maker is not None and maker in inside and maker not in seen:
                seen.add(maker)
                unseen.append(inside[maker])
    return False


TYPES: dict[Dtype, int] = {FLOAT32: FLOAT, FLOAT16: HALF, BFLOAT16: HALF, BOOLEAN: BOOL, INT64: INT}
BYTES = 100 + UINT8.itemsize  # of which type buffers of bytes are


class Emission:
    """Makes one graph. ``donated`` inputs may be taken over, ``freed`` ones are let go, but only
    ``counted`` ones stand in Inductor's estimate, and views of others: ``viewed``, and whether they
    are handed in themselves, too."""

    def __init__(
        self,
        groups: Iterable[Group],
        inputs: dict[Operation, Memory],
        *,
        donated: Container[Operation],
        freed: Container[Operation],
        counted: Container[Operation],
        viewed: Mapping[Operation, bool],
        workspace_bytes: int,
        bias_bytes: int,
        asked: Asked,
        counts_mutated: bool,
        weighs_sums: bool,
    ) -> None:
        self.graph = Graph(workspace_bytes, bias_bytes, counts_mutated=counts_mutated)
        self.buffers: dict[Memory, Buffer] = {}
        self._groups = list(groups)
        self._asked = asked
        self._donated = set[Memory]()
        self._added_up = set[int]()  # second stages of sums, by number: calls of PyTorch's own
        self._joined = set[Memory]()  # whose parts were written into it: nobody takes it over
        self._counted: dict[Memory, Buffer] = {}  # what stands for an input in the estimate
        self._views: dict[Memory, dict[Memory, list[Group]]] = {}  # who reads them, by storage
        self._nodes: dict[Group, Node] = {}
        self._readers: dict[Memory, list[tuple[Group, Kernel]]] = {}
        self._read: dict[Kernel, dict[Memory, None]] = {}
        self._held = Held(self._readers, weighs=weighs_sums)
        for group in self._groups:
            for kernel in group.kernels:
                if kernel.kind == LIBRARY and kernel.op is ops.CAT:
                    self._joined.update(write.memory for write in kernel.writes)
                read = dict.fromkeys([read.memory.storage for read in kernel.reads])
                self._read[kernel] = read
                for memory in read:
                    self._readers.setdefault(memory, []).append((group, kernel))
                for memory in dict.fromkeys([read.memory for read in kernel.reads]):
                    self._views.setdefault(memory.storage, {}).setdefault(memory, []).append(group)
        for operation, memory in inputs.items():
            views = self._views.get(memory, {})
            if operation in viewed:
                is_given = viewed[operation]
                self._stand_in(
                    memory, [each for each in views if each is not memory or not is_given]
                )
            if operation not in freed or not views:
                continue
            buffer = self._buffer(memory)
            if operation in counted:
                self._count(memory, buffer)
            else:
                self.graph.arguments.append(buffer)
            if operation in donated:
                self._donated.add(memory)
        for group in self._groups:
            self._emit(group)

    def _buffer(self, memory: Memory) -> Buffer:
        memory = memory.storage
        known = self.buffers.get(memory)
        if known is None:
            role = memory.role
            name = role.describe(memory.shape, memory.dtype)
            kind = TYPES.get(memory.dtype, 100 + memory.itemsize)
            known = Buffer(name, memory.nbytes, kind, role.component)
            known.kept, known.of = memory.kept, memory.name
            known.part, known.counted = memory.part, memory.counted
            self.buffers[memory] = known
            if memory.inside:
                known.inside = self._buffer(memory.inside)
        return known

    def _count(self, memory: Memory, buffer: Buffer) -> None:
        """The estimate knows each view that was handed in by its own name, and counts what the last
        launch that reads it reads (torch/_inductor/memory.py, ``get_freeable_input_buf``)."""
        views = self._views[memory]
        if {*views} == {memory} and all(
            _last_read(memory, group) == memory.counted for group in views[memory]
        ):
            self.graph.inputs.append(buffer)
            return
        self.graph.arguments.append(buffer)
        self._stand_in(memory, views)

    def _stand_in(self, memory: Memory, views: Iterable[Memory]) -> None:
        for each in views:
            nbytes = _last_read(each, self._views[memory][each][-1])
            found = Buffer(f"{each.name}, as it is read", nbytes, FLOAT, Component.ACTIVATIONS)
            self._counted[each] = found
            self.graph.inputs.append(found)

    def recount(self) -> None:
        """Another launch may be the last one that reads a view, once they have their order."""
        places = {id(node): place for place, node in enumerate(self.graph.nodes)}
        for each, buffer in self._counted.items():
            groups = self._views[each.storage][each]
            last = max(groups, key=lambda group: places[id(self._nodes[group])])
            buffer.counted = _last_read(each, last)

    def _counted_of(self, kernels: Sequence[Kernel]) -> list[Buffer]:
        if not self._counted:
            return []
        seen = dict.fromkeys([read.memory for kernel in kernels for read in kernel.reads])
        return [self._counted[each] for each in seen if each in self._counted]

    def _emit(self, group: Group) -> None:
        first = group.kernels[0]
        if first.elements:
            self._emit_call(first)
            self._nodes[group] = self.graph.nodes[-1]
            return
        if first.op is ops.GETITEM:
            node = Node((), tuple([self._buffer(write.memory) for write in first.writes]))
            self.graph.nodes.append(node)
            return
        made = [write.memory for kernel in group.kernels for write in kernel.writes]
        inside = [memory for memory in made if self._held.is_inside(memory, group)]
        read = [memory for kernel in group.kernels for memory in self._read[kernel]]
        seen = dict.fromkeys([memory for memory in read if memory not in made])
        reads = [self._buffer(each) for each in seen if self._is_known(each)]
        reads += self._counted_of(group.kernels)
        reads += [self._buffer(each) for each in inside if each.of in self._added_up]
        mutated = tuple([self._buffer(each) for k in group.kernels for each in k.mutates])
        writes = [memory for memory in made if memory not in inside]
        inplace = [self._takes_over(memory, group) for memory in writes]
        node = Node((*reads, *mutated), tuple([self._buffer(each) for each in writes]))
        node.mutates = mutated
        node.hidden = sum([memory.counted for memory in inside])
        if self.graph.counts_mutated:
            node.hidden += sum([buffer.counted for buffer in mutated])
        node.inplace = tuple(inplace)
        if group.mixed:
            self._mix(group, node)
        elif group.is_split_scan:
            nbytes = sum(each.workspace for each in group.kernels)
            node.workspace = Buffer("workspace", nbytes, BYTES, Component.ACTIVATIONS)
        self.graph.nodes.append(node)
        self._nodes[group] = node
        node.product = first.product
        if first.scratch and not first.product:
            node.scratch = _scratch_of(first)
        if first.product:
            # cuBLASLt adds biases, to rows that lie together, but not to single numbers (Blas.cpp,
            # addmm_out_cuda_impl).
            (write,) = first.writes
            shape = write.memory.shape
            together = layout.is_contiguous(shape, write.memory.strides) and shape[-1] > 1
            node.biased = first.op is ops.ADDMM and together
            copies = _scratch_of(first)
            half = len(copies) // 2
            workspace = self.graph.workspace(biased=node.biased)
            node.scratch = (*copies[:half], *workspace, *copies[half:])

    def _emit_call(self, call: Kernel) -> None:
        reads = [self._buffer(each) for each in self._read[call] if self._is_known(each)]
        node = Node((*reads, *self._counted_of([call])), ())
        node.elements = tuple([self._buffer(each) for each in call.elements])
        node.scratch, node.ahead = _scratch_of(call), call.ahead
        self.graph.nodes.append(node)

    def _is_known(self, memory: Memory) -> bool:
        return memory in self.buffers or memory.of is not None

    def _takes_over(self, memory: Memory, group: Group) -> tuple[Buffer, ...]:
        """The inputs whose memory it may take over, as they are read."""
        kernel = next(each for each in group.kernels if each.number == memory.of)
        if len(kernel.writes) != 1 or memory.part or kernel.product or kernel.elements:
            return ()
        (write,) = kernel.writes
        found: list[Buffer] = []
        for read in kernel.reads:
            source = read.memory.storage
            if source.of is None and source not in self._donated:
                continue
            if source is not read.memory:  # sums were added to it
                continue
            if source.inside or memory.inside or source in self._joined:
                continue
            if source.kept or read.tag or not (kernel.stays or read.place == write.place):
                continue
            if source.dtype is not memory.dtype or source.nbytes != memory.nbytes:
                continue
            if self._others_follow(source, kernel, group):
                continue
            if (
                source.of is not None
                and group.own >> source.of & 1
                and source.of not in self._added_up
                and self._held.is_inside(source, group)
            ):
                # A chain: what its middle takes over, or memory of its own.
                return (*found, *self._takes_over(source, group))
            found.append(self._buffer(source))
        return tuple(found)

    def _others_follow(self, source: Memory, kernel: Kernel, group: Group) -> bool:
        """Whether the launch reads it once more later, or elsewhere."""
        places = set[tuple[object, ...]]()
        for reader, other in self._readers[source]:
            if reader is not group:
                continue
            places.update(
                (read.memory, *read.place) for read in other.reads if read.memory.storage is source
            )
            if other is not kernel and not precedes(other, kernel, group):
                return True
        return len(places) > 1

    def _mix(self, group: Group, node: Node) -> None:
        """Sums over rows and columns in one kernel: the columns' partial sums are a workspace, and
        PyTorch adds them up by a call of its own."""
        assert group.mixed is not None
        _, columns = group.mixed
        sums = [kernel for kernel in columns.kernels if kernel.kind == SUMS]
        numel, rnumel = sums[0].original or (sums[0].numel, sums[0].rnumel)
        splits = self._asked.ask(fused_sum_splits, rnumel)
        nbytes = FLOAT32.itemsize * splits * numel * len(sums)
        node.workspace = Buffer("partial sums float32", nbytes, FLOAT, Component.ACTIVATIONS)
        direct = []
        for kernel in sums:
            (write,) = kernel.writes
            if kernel.original is None:
                direct.append(self._buffer(write.memory))
                continue
            self._buffer(write.memory).virtual = True
            for _, reader in self._readers.get(write.memory, ()):
                self._added_up.add(reader.number)
                direct += [self._buffer(each.memory) for each in reader.writes]
        node.direct = tuple(direct)
        added = self._asked.ask(scratch_bytes, (splits, numel), (numel, 1), (0,), 4, 4)
        node.passing = tuple(_scratch_of_sum(added) for _ in direct)


def _last_read(memory: Memory, group: Group) -> int:
    """Bytes that a launch reads of it, as often as it repeats them: by the last of its reads that
    no kernel before has, too."""
    reads = dict.fromkeys([read for kernel in group.kernels for read in kernel.reads])
    *_, last = (read for read in reads if read.memory is memory)
    if not last.loops and not last.tag:  # a library call, or one element
        return memory.counted
    return last.nbytes * last.repeats


def _scratch_of(call: Kernel) -> tuple[Buffer, ...]:
    made = {
        each: Buffer(each.role.describe(each.shape, each.dtype), each.nbytes, FLOAT,
                     each.role.component)
        for each in dict.fromkeys(call.scratch)
    }  # fmt: skip
    return tuple([made[each] for each in call.scratch])


def _scratch_of_sum(sizes: tuple[int, ...]) -> tuple[Buffer, ...]:
    """What a sum of PyTorch's own takes while it runs (nanolint/tensors/ops/sums.py)."""
    label, of = "partial results", Component.ACTIVATIONS
    return tuple(Buffer(label, each, FLOAT, of) for each in sizes if each)
