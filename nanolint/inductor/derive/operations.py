"""A graph of operations, as AOTAutograd traces a forward and a backward pass into one.

An operation here is one of ATen's after Inductor's decompositions, or a view. Only what decides
memory is kept: shapes, types, who reads whom, and in which order the operations were traced.

Operations whose formulas no recorded expression holds: they are doubted if they are compiled.

Each by the name of its formula, or as it is on elements, with the name that a doubt says.
``validation/recorded/compiled_operations.json`` has what PyTorch allocates for single expressions;
tests/tables/test_known_operations.py holds this list to it.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

from nanolint.tape.reading_lock import give_way
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.registry import Kind, Op

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role


Setting: TypeAlias = "int | float | str | bool | Op | Dtype | tuple[Setting, ...] | None"

INPUT, VIEW, POINTWISE, REDUCTION, RANDOM, CALL, GETITEM = Kind
# Elements that are written by index into zeros, or into a copy of a tensor.
PUTS = frozenset({ops.INDEX_PUT_NEW, ops.INDEX_PUT})
# No two of them are one, whatever they read.
ALONE = PUTS | {ops.LIFTED, ops.MULTINOMIAL, ops.RANDPERM, ops.TO_HOST, ops.WRITTEN}
BIASED = frozenset({ops.ADDMM, ops.BADDBMM})  # products that read a bias first
PRODUCTS = BIASED | {ops.MM, ops.BMM, ops.SCALED_MM}
PLACES = {ops.AMAX: ops.ARGMAX, ops.AMIN: ops.ARGMIN}  # where these elements are
STATE_FIRST = "state first"  # among those of attention that makes its random state first
DRAWS = "draws"  # among those of attention with dropout
WITH_PLACES = "with places"  # among those of the largest elements, whose places are made, too
TAKEN_APART = frozenset({ops.SPLIT, ops.UNBIND})  # views of several results, and of all elements
PARTS = frozenset({ops.SLICE, ops.SELECT})
FALLS_BACK = "falls back"  # among the settings of one that is ATen's own, not a kernel of Triton's


class Operation:
    """One operation and its result; ``of`` are the operations whose results it reads.

    ``settings`` are its other arguments: two of the same ``op``, inputs and settings are the
    same. ``cost`` is how many steps of a kernel it takes, without the ``numbers`` that it asks
    for. ``scratch`` is what a library call makes and frees: elements of float32 by a label, in
    order, each named at both moments, the first ``ahead`` of them before its results. Without a
    shape it is several results, each taken by an operation GETITEM.
    """

    __slots__ = (
        "ahead", "all_nodes", "asks", "cost", "dtype", "nodes", "number", "numbers", "of", "op",
        "parts", "region", "role", "scratch", "settings", "shape", "strides", "users",
    )  # fmt: skip

    def __init__(
        self,
        op: Op,
        of: Sequence[Operation],
        shape: Shape,
        strides: Strides,
        dtype: Dtype,
        role: Role,
        settings: tuple[Setting, ...] = (),
        cost: int | None = None,
    ) -> None:
        self.op = op
        self.of = tuple(of)
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.role = role
        self.settings = settings
        self.cost = op.steps if cost is None else cost
        self.asks: tuple[int, tuple[tuple[object, ...], ...]] | None = None  # kept by counting.py
        self.numbers: tuple[int | float | complex | None, ...] = ()
        self.nodes = 1  # of PyTorch's graph, on the shortest way through it
        self.all_nodes = 1
        self.parts: tuple[Operation, ...] = ()  # of an operation with several results
        self.scratch: tuple[tuple[str, int], ...] = ()
        self.ahead = 0
        self.users: dict[Operation, None] = {}
        self.number = -1
        self.region = 0  # of activation checkpointing, from 1

    def again(self, of: Sequence[Operation], role: Role) -> Operation:
        """The same on other operations."""
        made = Operation(
            self.op, of, self.shape, self.strides, self.dtype, role, self.settings, self.cost
        )  # fmt: skip
        made.numbers, made.nodes, made.all_nodes = self.numbers, self.nodes, self.all_nodes
        made.scratch, made.ahead = self.scratch, self.ahead
        return made

    def __repr__(self) -> str:
        return f"%{self.number} {self.op.aten}{self.shape} {self.dtype.name}"

    @property
    def kind(self) -> Kind:
        """That of its operation."""
        return self.op.kind

    @property
    def numel(self) -> int:
        """Elements of the result."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the result, or of all of them."""
        if self.parts:
            return sum(part.nbytes for part in self.parts)
        return self.dtype.itemsize * prod(self.shape)


class Operations:
    """Operations in the order in which they were traced, and what they are traced for."""

    def __init__(self) -> None:
        self.all: list[Operation] = []
        self.outputs: list[Operation] = []  # of the forward pass
        self.gradients: list[Operation | None] = []  # one for each input that learns
        self.tangents: list[Operation] = []  # the gradients of outputs, inputs themselves
        self.learning: list[int] = []  # the places of these outputs
        self.mutations: list[Operation] = []  # copies of results into inputs, at the end
        self.asserts: list[Operation] = []  # that nobody reads

    def add(self, operation: Operation) -> Operation:
        """Append it."""
        operation.number = len(self.all)
        self.all.append(operation)
        return operation

    def connect(self) -> None:
        """Number all operations, and note who uses whom; outputs are no users."""
        give_way()
        for number, each in enumerate(self.all):
            each.number = number
            each.users = {}
        for each in self.all:
            for source in each.of:
                source.users[each] = None

    def forget(self) -> None:
        """Let go of all operations, which hold each other; what is planned needs them no more."""
        for each in self.all:
            each.of, each.parts, each.users = (), (), {}
        for listed in (self.all, self.outputs, self.gradients, self.tangents):
            listed.clear()
        self.mutations.clear()
        self.asserts.clear()

    def wanted(self) -> Iterable[Operation]:
        """Returns the operations that the graph is needed for: outputs, gradients, writes,
        asserts."""
        wanted = (*self.outputs, *self.gradients, *self.mutations, *self.asserts)
        return (each for each in wanted if each is not None)

    def replace(self, old: dict[Operation, Operation]) -> None:
        """Put other operations in the place of some, in all that reads them."""
        if not old:
            return
        gone = old.keys()
        for each in self.all:
            if not gone.isdisjoint(each.of):
                each.of = tuple([replaced(source, old) for source in each.of])
            if each.parts:
                each.parts = tuple([replaced(part, old) for part in each.parts])
        self.outputs = [replaced(each, old) for each in self.outputs]
        self.gradients = [each and replaced(each, old) for each in self.gradients]
        self.all = [each for each in self.all if each not in old]

    def needed_by(self, operations: Iterable[Operation]) -> set[Operation]:
        """These, and all that they are computed from."""
        found = set(operations)
        for each in reversed(self.all):
            if each in found:
                found.update(each.of)
        return found

    def drop_dead(self) -> None:
        """Leave out what nothing that is wanted needs; inputs stay."""
        alive = self.needed_by(self.wanted())
        self.all = [each for each in self.all if each in alive or each.kind == INPUT]


def is_float(dtype: Dtype) -> bool:
    """Whether it is a floating type that autocast may choose or widen."""
    return dtype.kind == FLOAT32.kind


def bases_of(each: Operation) -> Iterator[Operation]:
    """It, and what it is a view of, the last first."""
    yield each
    while each.kind == VIEW:
        (each,) = each.of
        yield each


def base_of(each: Operation) -> Operation:
    """Returns the operation that it is a view of, through all views."""
    return list(bases_of(each))[-1]


def replaced(each: Operation, old: Mapping[Operation, Operation]) -> Operation:
    """Returns the replacement of an operation; itself if it has none."""
    while each in old:
        each = old[each]
    return each


UNVERIFIED: dict[str | Op, str] = {
    "multinomial": "multinomial",
    "padded_heads": "attention of heads that are padded",
}
