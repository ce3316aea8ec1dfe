"""Takes the operations of a device while a function is traced, forward and backward."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from nanolint.inductor.derive.counting import is_half, nodes_in
from nanolint.inductor.derive.operations import (
    UNVERIFIED,
    VIEW,
    Operation,
    Operations,
)
from nanolint.inductor.derive.writing import Attributes, Living, Traced, Writing
from nanolint.tensors.autograd import Leaf
from nanolint.tensors.device import NotDerived, NotTraced, NotVerified
from nanolint.tensors.dtypes import FLOAT32, INT64
from nanolint.tensors.layout import contiguous_strides
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.pointwise import add
from nanolint.tensors.ops.views import cast, view
from nanolint.tensors.role import placed
from nanolint.tensors.tensor import Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role


class Landing(Writing):
    """The part of a capture that autograd's engine asks."""

    half: Dtype | None  # what autocast casts to
    _landed: dict[object, Operation]

    def matching(self, gradient: Tensor, shape: Shape, dtype: Dtype, role: Role) -> Tensor:
        """``sum_to_size`` and a cast, as autograd's engine makes them."""
        found = gradient
        if found.shape != shape:
            found = self.summed_to(found, shape, role)
        return cast(found, dtype, role.gradient)

    def summed_to(self, x: Tensor, shape: Shape, role: Role) -> Tensor:
        """The sum over the dimensions that ``shape`` was repeated over, under autocast in float32,
        and cast back (ATen/ExpandUtils.h, ``sum_to``)."""
        dtype, lead = x.dtype, x.ndim - len(shape)
        over = tuple(range(lead)) + tuple(
            lead + dim for dim, size in enumerate(shape) if size == 1 and x.shape[lead + dim] != 1
        )
        kept = tuple(1 if dim in over else size for dim, size in enumerate(x.shape))
        if over:
            wide = FLOAT32 if is_half(dtype) and self.half is not None else dtype
            x = self.make(ops.SUM, (x,), kept, wide, role.gradient, over)
        return cast(view(x, shape) if lead else x, dtype, role.gradient)

    def sum(self, old: Tensor, new: Tensor) -> Tensor:
        """Two gradients of one tensor, added."""
        return add(old, new, role=old.role)

    def land(self, leaf: object, gradient: Tensor) -> None:
        """A parameter's gradient."""
        self._landed[leaf] = self.of(gradient)

    def gradient_of(self, learned: Tensor) -> Operation | None:
        """Returns the gradient of an input; None if it has none."""
        return self._landed.get(learned.node)


Formulas: TypeAlias = "dict[str, Callable[..., Any]]"


class Capture(Landing):
    """Takes a device's operations. ``formulas`` make those that are more than one operation.

    ``given`` are the tensors that the graph is called with; ``learned`` are the inputs whose
    gradients it makes, in the order of their first use.
    """

    def __init__(self, device: Device, formulas: Formulas, given: Sequence[Tensor]) -> None:
        self.device = device
        self.half = device.half
        self.graph = Operations()
        self.formulas = formulas
        self.learned: list[Tensor] = []
        self.living = Living()
        self._given = {id(each) for each in given}
        self._inputs: dict[int, tuple[Tensor, Operation]] = {}
        self._written: dict[int, Operation] = {}  # what a given tensor holds by now
        self._beyond: list[tuple[Tensor, Node, int]] = []  # inputs that other graphs made
        self._landed: dict[object, Operation] = {}
        self._own: set[Operation] = set()
        self._unknown = count(1)
        self._regions = count(1)
        self._region = 0
        self.attributes = Attributes()
        self.hosts: list[Tensor] = []  # of the host's, what it moves to the card
        self.asked: list[Tensor] = []  # whose contents the host asked for, at a graph break
        self._broken: NotTraced | None = None

    def breaks(self, error: NotTraced, asks: Tensor | None) -> None:
        """Ends the graph here; ``error`` is raised if another one would follow it."""
        self._broken = self._broken or error
        if asks is not None and self.makes(asks):
            self.asked.append(asks)

    def ends(self) -> None:
        """The function has returned: what comes now is its backward pass."""
        self._broken = None

    @property
    def state(self) -> tuple[object, ...]:
        """The decisions on the way, in addition to operations."""
        decided = len(self._written), len(self.asked), len(self.hosts)
        return *decided, self._region, self._broken

    def of(self, x: Tensor) -> Operation:
        """Returns the operation that makes a tensor; a new input if this graph does not make it.

        A model may keep a tensor that another call made: a table of angles, for one.
        """
        if isinstance(x, Traced) and x.made in self._own:
            return self.current(x)
        return self._written.get(id(x)) or self.input(x)

    def makes(self, x: Tensor) -> bool:
        """Whether a tensor is a result of this graph."""
        return isinstance(x, Traced) and x.made in self._own

    def input(self, x: Tensor) -> Operation:
        """The input that hands a tensor in: what it holds when the graph is called."""
        known = self._inputs.get(id(x))
        if known is None:
            if x.is_view and id(x) not in self._given:  # by a way that nobody told
                raise NotTraced("a view of what is given")
            made = Operation(ops.INPUT, (), x.shape, x.strides, x.dtype, x.role)
            known = self._inputs[id(x)] = x, self.graph.add(made)
            if x.node is not None:
                self._learn(x, x.node)
        return known[1]

    def hands_in(self, x: Tensor) -> bool:
        """Whether a tensor is an input already."""
        return id(x) in self._inputs

    def _learn(self, x: Tensor, node: Node) -> None:
        """This graph's backward pass ends at its inputs, whatever other graph made them."""
        self.learned.append(x)
        if not isinstance(node, Leaf):
            self._beyond.append((x, node, x.index))
            x.node, x.index = Leaf(x), 0

    @property
    def inputs(self) -> Iterable[tuple[Tensor, Operation]]:
        """The tensors that are handed in."""
        return self._inputs.values()

    def let_go(self) -> None:
        """Hold no tensor any more."""
        self._inputs.clear()
        self._landed.clear()
        self.learned.clear()
        self.asked.clear()
        self.hosts.clear()
        self.attributes.clear()

    def restore(self) -> None:
        """Give the inputs back what made them."""
        for x, node, index in self._beyond:
            x.node, x.index = node, index
        self._beyond.clear()

    def make(
        self,
        op: Op,
        of: Sequence[Tensor],
        shape: Shape,
        dtype: Dtype,
        role: Role,
        *settings: Any,
        strides: Strides | None = None,
        cost: int | None = None,
        numbers: Sequence[Number] = (),
    ) -> Traced:
        """A new operation, and its result."""
        strides = contiguous_strides(shape) if strides is None else strides
        sources = [self.of(each) for each in of]
        made = Operation(op, sources, shape, strides, dtype, role, settings, cost)
        made.numbers = tuple(numbers)
        found = Traced(self.device, self.added(made))
        if of and all(each.device is not self.device for each in of):
            found.device = of[0].device  # the host's
        return found

    def added(self, made: Operation) -> Operation:
        """Add an operation to the graph, of the line that it is traced in."""
        if self._broken is not None and made.kind != VIEW:
            raise self._broken
        made.region = self._region
        locator = self.device.tape.locator
        if locator is not None:
            made.role = placed(made.role, locator.here())
        return self.takes(made)

    def takes(self, made: Operation) -> Operation:
        """Add an operation that knows its line."""
        self._own.add(made)
        return self.graph.add(made)

    def several(
        self,
        op: Op,
        of: Sequence[Tensor],
        results: Sequence[tuple[Shape, Strides | None, Dtype, Role]],
        *settings: Any,
        scratch: tuple[tuple[str, int], ...] = (),
        ahead: int = 0,
    ) -> list[Traced]:
        """An operation with several results."""
        first = results[0]
        sources = [self.of(each) for each in of]
        whole = Operation(op, sources, (), (), first[2], first[3], settings)
        whole.scratch, whole.ahead = scratch, ahead
        self.added(whole)
        found = []
        for place, (shape, strides, dtype, role) in enumerate(results):
            strides = contiguous_strides(shape) if strides is None else strides
            part = Operation(ops.GETITEM, (whole,), shape, strides, dtype, role, (place,))
            found.append(Traced(self.device, self.added(part)))
        whole.parts = tuple(each.made for each in found)
        return found

    # What the tensors, and what reads a program, ask of a tracer.

    def creates(self, names: dict[str, Any]) -> None:
        """The attributes of an object that the graph makes."""
        self.attributes.create(names)

    def binds(self, names: dict[str, Any], name: str) -> None:
        """An attribute is about to be set. Raises NotTraced inside of a checkpoint, because that
        breaks the graph (torch/_dynamo/variables/higher_order_ops.py)."""
        if self._region and not self.attributes.creates(names):
            raise NotTraced("an attribute that is set inside of a checkpoint")
        self.attributes.bind(names, name)

    @contextmanager
    def region(self) -> Iterator[None]:
        """Marks the operations inside; a region inside of a region belongs to the outer one."""
        before, self._region = self._region, self._region or next(self._regions)
        try:
            yield
        finally:
            self._region = before

    def elementwise(
        self,
        op: Op,
        operands: Sequence[Tensor | Number],
        shape: Shape,
        strides: Strides,
        dtype: Dtype,
        role: Role,
        how: str,
    ) -> Tensor:
        """An operation on elements: numbers and ``how`` are settings. Raises NotVerified."""
        if op in UNVERIFIED:
            raise NotVerified(UNVERIFIED[op])
        tensors = [each for each in operands if isinstance(each, Tensor)]
        known = tuple(None if isinstance(each, Tensor) else each for each in operands)
        settings = (*known, how) if how else known
        found = self.make(
            op, tensors, shape, dtype, role, *settings, strides=strides,
            cost=op.steps + op.casts * is_half(dtype),
            numbers=[each for each in known if each is not None],
        )  # fmt: skip
        found.made.nodes, found.made.all_nodes = nodes_in(op, dtype)
        return found

    def view(
        self, x: Tensor, how: tuple[Any, ...], shape: Shape, strides: Strides, role: Role
    ) -> Tensor:
        """Returns a view; the place of a part is made up if it is not known."""
        op, *settings = how
        if None in settings:
            settings = [-next(self._unknown) if each is None else each for each in settings]
        source = self.of(x)
        made = Operation(op, (source,), shape, strides, source.dtype, role, tuple(settings))
        base = x if isinstance(x, Traced) else None
        found = Traced(self.device, self.added(made), role, base, (op, *settings))
        found.is_view, found.device = True, x.device
        return found

    def create(
        self, op: Op, shape: Shape, dtype: Dtype, role: Role, value: str | None = None
    ) -> Tensor:
        """A tensor that depends on no other, or on a seed."""
        if op is ops.RANDOM:
            return self.random(shape, role)
        return self.make(op, (), shape, dtype, role, value)

    def random(self, shape: Shape, role: Role) -> Traced:
        """Random numbers, of a seed of their own."""
        seed = self.make(ops.SEED, (), (), INT64, role.made("seeds"))
        return self.make(ops.RANDOM, (seed,), shape, FLOAT32, role)

    def call(self, name: str, arguments: Any, named: Any) -> Any:
        """An operation by its formula. Raises NotTraced."""
        formula = self.formulas.get(name)
        if formula is None:
            raise NotDerived(name)
        if name in UNVERIFIED:
            raise NotVerified(UNVERIFIED[name])
        try:
            return formula(self, *arguments, **named)
        except TypeError as error:  # called in a way that the formula does not have
            raise NotDerived(name) from error
