"""A compiled graph as Inductor's scheduler sees it: kernels, what they read and write.

Only what decides memory is kept: sizes, lifetimes, and which output may take over an input's
memory. Sizes are bytes.

How Inductor splits the sums over all tokens (LayerNorm's and the biases' gradients).

They decide only small buffers: partial sums in float32. Facts from torch/_inductor/choices.py
``reduction_split_factor``, ir.py ``Reduction.num_splits``, scheduler.py ``MixOrderReduction`` and
codegen/simd.py, all of 2.13.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.tape import Component
from nanolint.tensors.device import OF_CUBLAS, OF_CUBLASLT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.tensors.device import Card


# Element types, as far as buffer reuse tells them apart.
FLOAT, HALF, BOOL, INT = range(4)

ALIGNMENT = 128  # bytes: padding_alignment_bytes in torch/_inductor/config.py
LONGEST_UNPADDED = 1024  # elements: padding_stride_threshold


class Buffer:
    """A tensor of the graph. ``slot`` names the memory it lives in, once planned; ``of`` is
    Inductor's own name of it, in whose order those are freed that end together. ``counted`` are the
    bytes of its elements, without gaps between rows, by which Inductor estimates the peak."""

    __slots__ = (
        "component",
        "counted",
        "dtype",
        "first",
        "inside",
        "kept",
        "last",
        "name",
        "nbytes",
        "of",
        "part",
        "slot",
        "virtual",
    )

    def __init__(self, name: str, nbytes: int, dtype: int, component: Component) -> None:
        self.name = name
        self.of = ""
        self.nbytes = nbytes
        self.counted = nbytes
        self.dtype = dtype
        self.component = component
        self.kept = False  # a graph output: never freed, never reused
        self.part = False  # an element of the tuple that a library call returned
        self.inside: Buffer | None = None  # of a part that is written into a whole: that
        self.virtual = False  # planned for by the scheduler, then left out of the code
        self.slot = -1
        self.first = 0  # the node that makes it
        self.last = -1  # the last node that uses it


class Node:
    """One kernel or library call.

    ``inplace`` lists, for an output, the inputs whose memory it may take over, best first;
    ``workspace`` lives while the kernel runs; ``direct`` outputs, of this node or of later ones,
    are made by a plain PyTorch call after the kernel, past Inductor's reuse, and ``passing`` is
    what each of these calls takes and gives back; ``scratch`` is
    made and freed inside the call, each of them named at both moments, the first ``ahead`` of
    them before its ``elements``;
    ``mutates`` are those of ``reads`` that it adds to, before anyone else reads them; ``hidden``
    are bytes of intermediate results that never leave the kernel, yet count in the estimate.
    """

    __slots__ = (
        "ahead",
        "biased",
        "direct",
        "elements",
        "hidden",
        "inplace",
        "mutates",
        "passing",
        "product",
        "reads",
        "scratch",
        "workspace",
        "writes",
    )

    def __init__(self, reads: tuple[Buffer, ...], writes: tuple[Buffer, ...]) -> None:
        self.reads = reads
        self.writes = writes
        self.inplace: tuple[tuple[Buffer, ...], ...] = ()
        self.workspace: Buffer | None = None
        self.direct: tuple[Buffer, ...] = ()
        self.passing: tuple[tuple[Buffer, ...], ...] = ()
        self.mutates: tuple[Buffer, ...] = ()
        self.hidden = 0
        self.elements: tuple[Buffer, ...] = ()
        self.scratch: tuple[Buffer, ...] = ()
        self.ahead = 0
        self.product = False  # a matrix product
        self.biased = False  # one to which cuBLASLt adds a bias


class Graph:
    """Nodes in the order that Inductor lowers them, and the inputs it may free."""

    def __init__(
        self, workspace_bytes: int = 0, bias_bytes: int = 0, *, counts_mutated: bool = False
    ) -> None:
        self.workspace_bytes = workspace_bytes  # what each matrix product makes for itself
        self.bias_bytes = bias_bytes  # what one with a bias makes instead; 0: the same
        self.counts_mutated = counts_mutated  # twice, in the estimate
        self.nodes: list[Node] = []
        self.inputs: list[Buffer] = []  # saved tensors: counted in the estimate, freed, not reused
        self.arguments: list[Buffer] = []  # batch and tangents: freed, but not counted

    def kernel(
        self,
        reads: Iterable[Buffer],
        *writes: Buffer,
        inplace: tuple[tuple[Buffer, ...], ...] = (),
        workspace: Buffer | None = None,
        direct: tuple[Buffer, ...] = (),
        passing: tuple[tuple[Buffer, ...], ...] = (),
        mutates: tuple[Buffer, ...] = (),
        hidden: int = 0,
    ) -> None:
        """Add a kernel; ``inplace`` goes with the leading ``writes``."""
        node = Node((*reads, *mutates), writes)
        node.mutates = mutates
        node.hidden = hidden
        if self.counts_mutated:
            node.hidden += sum(buffer.counted for buffer in mutates)
        node.inplace = inplace
        node.workspace = workspace
        node.direct = direct
        node.passing = passing
        self.nodes.append(node)

    def workspace(self, *, biased: bool) -> tuple[Buffer, ...]:
        """The scratch of a matrix product: cuBLAS's, or cuBLASLt's if that adds a bias."""
        if not self.workspace_bytes:
            return ()
        name, nbytes = OF_CUBLAS, self.workspace_bytes
        if biased and self.bias_bytes:
            name, nbytes = OF_CUBLASLT, self.bias_bytes
        made = Buffer(name, nbytes, FLOAT, Component.WORKSPACE)
        return made, made


ROWS_PER_THREAD = 4
SPLIT_THREADS = 256
COLUMNS_PER_BLOCK = 128
MOST_SPLIT_ROWS = 512
FEWEST_SPLIT_ROWS = 32


def column_sum_splits(card: Card, rows: int, columns: int, threads_per_sm: int | None) -> int:
    """Partial sums per column when a (rows, columns) matrix is summed over its rows.

    ``threads_per_sm`` are those that the release takes for any card's, if it does.
    """
    sm_count = card.multiprocessors
    if rows <= FEWEST_SPLIT_ROWS or columns >= 64 * sm_count:
        return 1
    threads = sm_count * (threads_per_sm or card.threads)
    elements = rows * columns
    if elements < FEWEST_SPLIT_ROWS * threads:
        size = FEWEST_SPLIT_ROWS
    elif elements < MOST_SPLIT_ROWS * threads:
        blocks = _ceil(threads // SPLIT_THREADS, _ceil(columns, COLUMNS_PER_BLOCK))
        size = _ceil(rows, ROWS_PER_THREAD * blocks)
        even = nearest_divisor(rows, size)
        if abs(size - even) < 20:
            size = max(even, FEWEST_SPLIT_ROWS)
    else:
        even = nearest_divisor(rows, MOST_SPLIT_ROWS)
        size = even if abs(even - MOST_SPLIT_ROWS) < 50 else MOST_SPLIT_ROWS
    return _ceil(rows, ROWS_PER_THREAD * size)


def fused_sum_splits(card: Card, rows: int) -> int:
    """Partial sums per column when the row and the column sums share one kernel (codegen/simd.py,
    ``_codegen_mix_order_reduction``)."""
    share = rows // (card.multiprocessors * 8)
    size = 1 << (share.bit_length() - 1) if share else 0
    return _ceil(rows, min(max(size, 16), 128))


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def nearest_divisor(number: int, target: int) -> int:
    """The divisor of ``number`` that is nearest to ``target``, the smaller of two."""
    for distance in range(number):
        for candidate in (target - distance, target + distance):
            if candidate > 0 and number % candidate == 0:
                return candidate
    return 1
