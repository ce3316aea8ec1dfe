"""Trace a model's forward and backward pass into one graph, as AOTAutograd does.

The model's own statements run on tensors that hold operations instead of memory. The pretend
autograd runs its backward pass on them as well, so that the joint graph has PyTorch's own order.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from nanolint.memory.compiled.derive.attributes import Attributes
from nanolint.memory.compiled.derive.operations import (
    GETITEM,
    INPUT,
    POINTWISE,
    REDUCTION,
    VIEW,
    Operation,
    Operations,
)
from nanolint.memory.tensors.autograd import Leaf, numbers, run_graph
from nanolint.memory.tensors.device import NotTraced
from nanolint.memory.tensors.gradients import take_off
from nanolint.memory.tensors.layout import contiguous_strides, like_strides
from nanolint.memory.tensors.ops.pointwise import add
from nanolint.memory.tensors.ops.views import cast, view
from nanolint.memory.tensors.role import PlacedRole
from nanolint.memory.tensors.tensor import Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nanolint.memory.tensors.device import Device
    from nanolint.memory.tensors.dtypes import Dtype, Number
    from nanolint.memory.tensors.layout import Shape, Strides
    from nanolint.memory.tensors.role import Role

Formulas: TypeAlias = "dict[str, Callable[..., Any]]"

# Steps of a kernel, as torch/_inductor counts them for "too much to be inlined"; others take one.
COSTS = {
    "GELU output": 9,
    "SiLU output": 6,
    "softplus output": 8,
    "interpolation": 10,  # with a weight that is a tensor
    "": 14,  # the gradient of one of these
}


class Traced(Tensor):
    """A tensor that holds the operation that makes it."""

    __slots__ = ("made",)

    def __init__(
        self, device: Device, made: Operation, role: Role | None = None, is_view: bool = False
    ) -> None:
        super().__init__(
            device, None, made.shape, made.strides, made.dtype, role or made.role, is_view
        )
        self.made = made

    def view(self, shape: Shape, strides: Strides, role: Role) -> Tensor:
        """While it is traced none but those that a tracer is told of. Raises NotTraced."""
        if self.device.tracer is not None:
            raise NotTraced("a view that has no name")
        return super().view(shape, strides, role)

    def detach(self) -> Traced:
        """The same tensor, without what made it differentiable."""
        return Traced(self.device, self.made, self.role, self.is_view)


class Capture:
    """Takes a device's operations. ``formulas`` make those that are more than one operation.

    ``given`` are the tensors that the graph is called with; ``learned`` are the inputs whose
    gradients it makes, in the order of their first use.
    """

    def __init__(self, device: Device, formulas: Formulas, given: Sequence[Tensor]) -> None:
        self.device = device
        self.graph = Operations()
        self.formulas = formulas
        self.learned: list[Tensor] = []
        self._given = {id(each) for each in given}
        self._inputs: dict[int, tuple[Tensor, Operation]] = {}
        self._written: dict[int, Operation] = {}  # what a given tensor holds by now
        self._beyond: list[tuple[Tensor, Node, int]] = []  # inputs that other graphs made
        self._landed: dict[object, Operation] = {}
        self._own: set[Operation] = set()
        self._unknown = count(1)
        self.attributes = Attributes()

    def of(self, x: Tensor) -> Operation:
        """The operation behind a tensor; a new input where this graph does not make it.

        A model may keep a tensor that another call made: a table of angles, for one.
        """
        if isinstance(x, Traced) and x.made in self._own:
            return x.made
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
            made = Operation("input", INPUT, (), x.shape, x.strides, x.dtype, x.role)
            known = self._inputs[id(x)] = x, self.graph.add(made)
            if x.node is not None:
                self._learn(x, x.node)
        return known[1]

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
        self.attributes.clear()

    def restore(self) -> None:
        """Give the inputs back what made them."""
        for x, node, index in self._beyond:
            x.node, x.index = node, index
        self._beyond.clear()

    def make(
        self,
        name: str,
        kind: int,
        of: Sequence[Tensor],
        shape: Shape,
        dtype: Dtype,
        role: Role,
        *settings: Any,
        strides: Strides | None = None,
        cost: int = 1,
    ) -> Traced:
        """A new operation, and its result."""
        strides = contiguous_strides(shape) if strides is None else strides
        sources = [self.of(each) for each in of]
        made = Operation(name, kind, sources, shape, strides, dtype, role, settings, cost)
        return Traced(self.device, self._added(made))

    def _added(self, made: Operation) -> Operation:
        self._own.add(made)
        locator = self.device.tape.locator
        if locator is not None:
            made.role = PlacedRole(made.role, locator.here())
        return self.graph.add(made)

    def several(
        self,
        name: str,
        kind: int,
        of: Sequence[Tensor],
        results: Sequence[tuple[Shape, Strides | None, Dtype, Role]],
        *settings: Any,
        scratch: tuple[tuple[str, int], ...] = (),
    ) -> list[Traced]:
        """An operation with several results."""
        first = results[0]
        sources = [self.of(each) for each in of]
        whole = Operation(name, kind, sources, (), (), first[2], first[3], settings)
        whole.scratch = scratch
        self._added(whole)
        found = []
        for place, (shape, strides, dtype, role) in enumerate(results):
            strides = contiguous_strides(shape) if strides is None else strides
            part = Operation("getitem", GETITEM, (whole,), shape, strides, dtype, role, (place,))
            found.append(Traced(self.device, self._added(part)))
        whole.parts = tuple(each.made for each in found)
        return found

    # What the tensors, and what reads a program, ask of a tracer.

    def creates(self, names: dict[str, Any]) -> None:
        """The attributes of an object that the graph makes."""
        self.attributes.create(names)

    def binds(self, names: dict[str, Any], name: str) -> None:
        """An attribute is about to be set."""
        self.attributes.bind(names, name)

    def elementwise(
        self,
        label: str,
        operands: Sequence[Tensor | Number],
        shape: Shape,
        strides: Strides,
        dtype: Dtype,
        role: Role,
    ) -> Tensor:
        """An operation on elements: numbers are settings."""
        tensors = [each for each in operands if isinstance(each, Tensor)]
        known = tuple(None if isinstance(each, Tensor) else each for each in operands)
        cost = COSTS.get(label, 1 + len(known) - len(tensors))
        return self.make(
            label, POINTWISE, tensors, shape, dtype, role, *known, strides=strides, cost=cost
        )

    def view(
        self, x: Tensor, how: tuple[Any, ...], shape: Shape, strides: Strides, role: Role
    ) -> Tensor:
        """A view; where a part of it lies is made up where that is not known."""
        kind, *settings = how
        if None in settings:
            settings = [-next(self._unknown) if each is None else each for each in settings]
        source = self.of(x)
        made = Operation(
            kind, VIEW, (source,), shape, strides, source.dtype, role, tuple(settings), 0
        )
        return Traced(self.device, self._added(made), role, is_view=True)

    def create(self, what: str, shape: Shape, dtype: Dtype, role: Role) -> Tensor:
        """A tensor that depends on no other."""
        return self.make(what, POINTWISE, (), shape, dtype, role, cost=2)

    def write(self, x: Tensor, inputs: Sequence[Tensor]) -> None:
        """What is written into x is a new result that x holds from now on."""
        (first, *others) = inputs
        same = first is not x and not others and first.shape == x.shape and first.dtype is x.dtype
        made = self.of(first)
        if not same:
            made = self.make(
                "written", POINTWISE, inputs, x.shape, x.dtype, x.role, strides=x.strides
            ).made
        if id(x) in self._given:
            self.input(x)
            self._written[id(x)] = made
        elif isinstance(x, Traced) and not x.is_view:
            x.made = made
        else:
            raise NotTraced("writing into a part of a tensor")

    def call(self, name: str, arguments: Any, named: Any) -> Any:
        """An operation by its formula. Raises NotTraced."""
        formula = self.formulas.get(name)
        if formula is None:
            raise NotTraced(name)
        try:
            return formula(self, *arguments, **named)
        except TypeError as error:  # called in a way that the formula does not have
            raise NotTraced(name) from error

    def matching(self, gradient: Tensor, shape: Shape, dtype: Dtype, role: Role) -> Tensor:
        """``sum_to_size`` and a cast, as autograd's engine makes them."""
        found = gradient
        if found.shape != shape:
            found = self.summed_to(found, shape, role)
        return cast(found, dtype, role.gradient)

    def summed_to(self, x: Tensor, shape: Shape, role: Role) -> Tensor:
        """The sum over the dimensions that ``shape`` was repeated over."""
        lead = x.ndim - len(shape)
        over = tuple(range(lead)) + tuple(
            lead + dim for dim, size in enumerate(shape) if size == 1 and x.shape[lead + dim] != 1
        )
        kept = tuple(1 if dim in over else size for dim, size in enumerate(x.shape))
        if over:
            x = self.make("sum", REDUCTION, (x,), kept, x.dtype, role.gradient, over)
        return view(x, shape) if lead else x

    def sum(self, old: Tensor, new: Tensor) -> Tensor:
        """Two gradients of one tensor, added."""
        return add(old, new, role=old.role)

    def land(self, leaf: object, gradient: Tensor) -> None:
        """A parameter's gradient."""
        self._landed[leaf] = self.of(gradient)

    def gradient_of(self, learned: Tensor) -> Operation | None:
        """What lands at an input; None where nothing does."""
        return self._landed.get(learned.node)

    def result(self, x: Tensor) -> Operation:
        """What is handed out; of a given tensor itself, whatever was written into it."""
        return self.input(x) if id(x) in self._written else self.of(x)

    def write_back(self) -> None:
        """Copy into the given tensors what was written into them."""
        for key, made in list(self._written.items()):
            _, given = self._inputs[key]
            copied = Operation("copy_", POINTWISE, (made, given), given.shape, given.strides,
                               given.dtype, given.role, cost=0)  # fmt: skip
            self.graph.mutations.append(self._added(copied))


class _Root(Node):
    """Hands the gradients of all outputs to a backward pass."""

    def __init__(self, outputs: list[Tensor], tangents: list[Tensor]) -> None:
        edges = tuple((each.node, each.index) for each in outputs if each.node is not None)
        super().__init__(edges, (), next(numbers))
        self._tangents: list[Tensor] = tangents

    def run(self) -> list[Tensor | None]:
        """The gradients, once."""
        made: list[Tensor | None] = [*self._tangents]
        self._tangents = []
        for each in made:
            if each is not None:
                take_off(each)
        return made


def capture(
    device: Device,
    forward: Callable[[], Sequence[Tensor]],
    given: Sequence[Tensor],
    formulas: Formulas,
    host: Device | None = None,
) -> Capture:
    """The graph of ``forward``, and of its backward pass where something learns.

    ``given`` are the tensors that it is called with; numbers on the ``host`` are part of it.
    Raises NotTraced where an operation is not known.
    """
    tracer = Capture(device, formulas, given)
    casts, device.casts = device.casts, {}
    both = [each for each in (device, host) if each is not None]
    for each in both:
        each.tracer = tracer
    try:
        outputs = list(forward())
        tracer.graph.outputs = [tracer.result(each) for each in outputs]
        tracer.write_back()
        differentiable = [each for each in outputs if each.node is not None]
        if device.grad_enabled and tracer.learned and differentiable:
            tangents = [
                Tensor(device, None, each.shape, like_strides(each.shape, each.strides),
                       each.dtype, each.role.gradient)
                for each in differentiable
            ]  # fmt: skip
            tracer.graph.tangents = [tracer.of(each) for each in tangents]
            tracer.graph.learning = [
                place for place, each in enumerate(outputs) if each.node is not None
            ]
            run_graph(_Root(differentiable, [*tangents]), device)
            tracer.graph.gradients = [tracer.gradient_of(each) for each in tracer.learned]
    finally:
        for each in both:
            each.tracer = None
        device.casts = casts
        tracer.restore()
    return tracer
