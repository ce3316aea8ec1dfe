"""Trace a model's forward and backward pass into one graph; layers that are alike are copied.

The model's own statements run on tensors that hold operations instead of memory. The pretend
autograd runs its backward pass on them as well, so that the joint graph has PyTorch's own order.

Layers that are alike in a graph: one is traced, and its operations are copied for the others.

Which layers are alike is found in ``interpreter/alike.py``. What is copied is the forward pass:
the nodes of a copy run as those of a layer that was traced do.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

from nanolint.inductor.derive.capture import Capture
from nanolint.inductor.derive.operations import VIEW
from nanolint.inductor.derive.writing import Traced, restore
from nanolint.tensors.autograd import Operation, numbers, run_graph, take_off
from nanolint.tensors.layout import like_strides
from nanolint.tensors.role import PlacedRole
from nanolint.tensors.tensor import Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nanolint.inductor.derive import operations
    from nanolint.inductor.derive.capture import Formulas
    from nanolint.tape.locating import Where
    from nanolint.tensors.device import Device
    from nanolint.tensors.role import Role

    Saved: TypeAlias = tuple[Tensor | None, ...]


class Layered(Capture):
    """A capture that can copy layers. ``layers`` is what is known of those that are called."""

    def __init__(self, device: Device, formulas: Formulas, given: Sequence[Tensor]) -> None:
        super().__init__(device, formulas, given)
        self.layers: dict[object, Any] = {}

    def ends(self) -> None:
        super().ends()
        self.layers.clear()

    def layer(self, x: Tensor, tensors: Sequence[Tensor], shared: Sequence[Tensor]) -> Layer:
        """A call of a layer begins."""
        return Layer(self, x, tensors, shared)


class _Unlike(Exception):
    """A call does something that a copy of it could not."""


class Layer:
    """A call of a layer with ``x``, from here to its end (``ends``).

    ``tensors`` are all that the layer holds, in the order that those of its form have them in;
    ``shared`` are tensors that all of them are called with.
    """

    def __init__(
        self, tracer: Capture, x: Tensor, tensors: Sequence[Tensor], shared: Sequence[Tensor]
    ) -> None:
        self.tracer, self.x, self.tensors, self.shared = tracer, x, tensors, shared
        apart = x.node is None or all(each.node is not x.node for each in shared)
        self._may_end = self._may_enter(x, tensors) and x not in shared and apart
        self._first, self._first_node = len(tracer.graph.all), next(numbers)
        self._casts, self._state = len(tracer.device.casts), tracer.state
        self.given = self._of_shared()

    def _may_enter(self, x: Tensor, tensors: Sequence[Tensor]) -> bool:
        """Whether nothing but the layer has asked for its tensors, and x is as it was made."""
        tracer = self.tracer
        if not isinstance(x, Traced) or not tracer.makes(x) or x.source is not None or x.version:
            return False
        if any(isinstance(each, Traced) and each.root.version for each in self.shared):
            return False
        casts = tracer.device.casts
        return not any(tracer.hands_in(each) or each.node in casts for each in tensors)

    def _of_shared(self) -> list[operations.Operation]:
        tracer = self.tracer
        there = [each for each in self.shared if tracer.hands_in(each) or tracer.makes(each)]
        return [tracer.of(each) for each in there]

    def ends(self, out: Tensor) -> bool:
        """It has returned ``out``; returns whether calls of others can be copied from it."""
        if not self._may_end or self.tracer.state != self._state:
            return False
        self.out = out
        try:
            self.operations = self._traced()
            self.casts = self._cast()
            self.nodes = self._inside([out, *self.casts.values()])
        except _Unlike:
            return False
        return True

    def _traced(self) -> dict[operations.Operation, Tensor | None]:
        """The operations of the call; those that hand in tensors of the layer with these."""
        tracer = self.tracer
        found: dict[operations.Operation, Any] = dict.fromkeys(tracer.graph.all[self._first :])
        if not isinstance(self.out, Traced) or self.out.made not in found or self.out.source:
            raise _Unlike
        for tensor, operation in tracer.inputs:
            if operation in found:
                if tensor not in self.tensors:
                    raise _Unlike
                found[operation] = tensor
        known = {tracer.of(self.x), *self.given, *found}
        for each in found:
            if each.region or _is_of_unknown_part(each) or not known.issuperset(each.of):
                raise _Unlike
        return found

    def _cast(self) -> dict[Tensor, Tensor]:
        """Autocast's copies, by the parameters of the layer that they are of."""
        of_leaf: dict[object, Tensor] = {each.node: each for each in self.tensors if each.node}
        found = {}
        for leaf, cast in [*self.tracer.device.casts.items()][self._casts :]:
            if leaf not in of_leaf or not isinstance(cast, Tensor):
                raise _Unlike
            found[of_leaf[leaf]] = cast
        return found

    def _inside(self, results: Iterable[Tensor]) -> dict[Operation, Saved]:
        """What made these from x, what is shared and what the layer holds, the oldest first, with
        what each has saved."""
        given = {self.x, *self.shared, *self.tensors}
        ends: set[Node | None] = {None, *(each.node for each in given)}
        found: dict[Operation, Saved] = {}
        unseen = [each.node for each in results]
        while unseen:
            node = unseen.pop()
            if node in ends or node in found:
                continue
            if type(node) is not Operation or node.number < self._first_node:
                raise _Unlike
            if not isinstance(node.saved, tuple) or node.context or _holds(node.backward):
                raise _Unlike
            found[node] = node.saved
            unseen += [edge[0] for edge in node.edges if edge is not None]
        ends.update(found)
        for saved in found.values():
            for each in saved:
                while each is not None and each not in given:
                    if not isinstance(each, Traced) or each.version or each.node not in ends:
                        raise _Unlike
                    each = each.source
        return {node: found[node] for node in sorted(found, key=lambda node: node.number)}

    def copy(self, x: Tensor, tensors: Sequence[Tensor], later: int) -> Tensor | None:
        """Returns the result of another layer that is called with ``x``, ``later`` calls of
        functions after this one; None if it has to be traced."""
        if not self._may_enter(x, tensors) or self._of_shared() != self.given:
            return None
        return _Copy(self, x, tensors, later).made()


class _Copy:
    """One layer's operations and nodes, by those of another one."""

    def __init__(self, of: Layer, x: Tensor, tensors: Sequence[Tensor], later: int) -> None:
        self._of, self._later = of, later
        self._tensors = {each: each for each in of.shared}
        self._tensors.update(zip((of.x, *of.tensors), (x, *tensors), strict=True))
        self._made: dict[Tensor, Tensor] = {}
        tracer = of.tracer
        self._operations = {each: each for each in of.given}
        self._operations[tracer.of(of.x)] = tracer.of(x)
        self._nodes: dict[Node | None, Node | None] = {
            each.node: other.node for each, other in self._tensors.items()
        }
        self._nodes[None] = None
        self._wheres: dict[int, Where] = {}  # by the ids of those in the layer, which lives on

    def made(self) -> Tensor:
        """Returns the result of the call."""
        of = self._of
        tracer, casts = of.tracer, of.tracer.device.casts
        for each, handed in of.operations.items():
            self._operations[each] = (
                self._operation(each) if handed is None else tracer.input(self._tensors[handed])
            )
        for each in of.operations:
            if each.parts:
                self._operations[each].parts = tuple([self._operations[one] for one in each.parts])
        for node, saved in of.nodes.items():
            self._nodes[node] = self._node(node, saved)
        for parameter, cast in of.casts.items():
            casts[self._tensors[parameter].node] = self._tensor(cast)
        out = self._tensor(of.out)
        for like, found in self._made.items():
            found.node, found.index = self._nodes[like.node], like.index
        return out

    def _operation(self, like: operations.Operation) -> operations.Operation:
        tracer = self._of.tracer
        of = [self._operations[each] for each in like.of]
        return tracer.takes(like.again(of, self._role(like.role)))

    def _role(self, like: Role) -> Role:
        """The role of what is made in calls that are so many later."""
        if not isinstance(like, PlacedRole) or like.where is None:
            return like
        where = self._wheres.get(id(like.where))
        if where is None:
            where = self._wheres[id(like.where)] = like.where.later(self._later)
        return PlacedRole(like, where)

    def _node(self, like: Operation, saved: Saved) -> Operation:
        edges = tuple([each and self._edge(each) for each in like.edges])
        own = tuple([None if each is None else self._tensor(each) for each in saved])
        assert like.backward is not None
        found = Operation(edges, like.outputs, like.backward, own)
        locator = self._of.tracer.device.tape.locator
        if locator is not None:
            locator.made_as(found.number, like.number, self._later)
        return found

    def _edge(self, like: tuple[Node, int]) -> tuple[Node, int]:
        node, index = like
        if node is self._of.x.node:
            index = self._tensors[self._of.x].index
        found = self._nodes[node]
        assert found is not None
        return found, index

    def _tensor(self, like: Tensor) -> Tensor:
        known = self._tensors.get(like)
        if known is not None:
            return known
        assert isinstance(like, Traced)
        source = None if like.source is None else self._tensor(like.source)
        assert source is None or isinstance(source, Traced)
        made = self._operations[like.made]
        role = made.role if like.role is like.made.role else self._role(like.role)
        found = Traced(like.device, made, role, source, like.step)
        found.is_view = like.is_view
        self._tensors[like] = self._made[like] = found
        return found


def _is_of_unknown_part(each: operations.Operation) -> bool:
    """Whether it is a view of a part that is not known: a number tells it from all others."""
    return each.kind == VIEW and any(type(one) is int and one < 0 for one in each.settings)


def _holds(value: Any) -> bool:
    """Whether a function holds tensors of its own, which those of a copy would share."""
    if isinstance(value, Tensor):
        return True
    if isinstance(value, (list, tuple)):
        return any(map(_holds, value))
    if isinstance(value, FunctionType):
        return any(_holds(cell.cell_contents) for cell in value.__closure__ or ())
    return isinstance(value, (dict, set)) or hasattr(value, "__self__") or hasattr(value, "func")


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
    """Returns the graph of ``forward``, and of its backward pass if something learns.

    ``given`` are the tensors that it is called with; numbers on the ``host`` are part of it.
    Raises NotTraced if an operation is not known.
    """
    tracer = Layered(device, formulas, given)
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
    except BaseException:
        restore(tracer.attributes.before())
        raise
    finally:
        for each in both:
            each.tracer = None
        device.casts = casts
        tracer.restore()
    return tracer
