"""Autograd: which tensors wait for a backward pass, what operations save, and the pass itself.

As torch/csrc/autograd: engine.cpp, functions/accumulate_grad.h. A node holds what its operation
saved until it has run. A leaf keeps its first gradient if that lies as the leaf does.

A gradient is summed to the shape of its input and cast to its type. Two gradients of one tensor are
summed in place if nobody else looks at the first (input_buffer.cpp). What operations save goes
through hooks if the program has set any (``saved_tensors_hooks``).
"""

from __future__ import annotations

import sys
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Protocol, TypeAlias

from nanolint.tensors.layout import is_contiguous, is_dense, like_strides, result_strides
from nanolint.tensors.ops.sums import reduction
from nanolint.tensors.refusing import scalar_name, sizes
from nanolint.tensors.tensor import Node, empty
from nanolint.tensors.tracing import tracer_at
from nanolint.tensors.unknown import NotModelled, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor


def matched(node: Node, gradients: Iterable[Tensor | None]) -> list[Tensor | None]:
    """``validate_outputs``: each summed to the shape of its input, and cast to its type."""
    found = list(gradients)
    for each in found:
        if each is not None:
            take_off(each)
    del gradients
    each = None
    for place, edge in enumerate(node.edges):
        if edge is not None:
            _match(found, place, *edge[0].outputs[edge[1]])
        elif found[place] is not None:  # of what requires none
            _replace(found, place, None)
    return found


def receive(node: Node, index: int, new: Tensor) -> None:
    """Take a gradient of output ``index``, or add it to what is there."""
    old = node.gradients[index]
    node.gradients[index] = new if old is None else _sum(old, new)


def _match(found: list[Tensor | None], place: int, shape: Shape, dtype: Dtype, role: Role) -> None:
    """Sum and cast the gradient at ``place``, which nothing but the list holds."""
    new = found[place]
    if new is None:
        return
    tracer = tracer_at(new.device)
    if tracer is not None:
        if (traced := tracer.matching(new, shape, dtype, role)) is not new:
            _replace(found, place, traced)
        return
    if new.shape != shape:
        summed = empty(new.device, shape, new.dtype, role.gradient)
        reduction(new, _summed(new.shape, shape), "partial sums")
        summed.is_view = new.ndim > len(shape) > 0
        _replace(found, place, summed)
        new = summed
    if new.dtype is not dtype:
        strides = like_strides(shape, new.strides)
        _replace(found, place, empty(new.device, shape, dtype, role.gradient, strides))


def _summed(shape: Shape, to: Shape) -> list[int]:
    """The dimensions that ``sum_to`` sums."""
    missing = len(shape) - len(to)
    ones = (dim for dim, size in enumerate(to, missing) if size == 1 != shape[dim])
    return [*range(missing), *ones]


def changed(old: Tensor, new: Tensor | None) -> Tensor:
    """Returns the gradient that a hook made, in the place of the one that it was given; None leaves
    it."""
    return old if new is None or new is old else _replaced(old, new)


def lies_as(new: Tensor, strides: tuple[int, ...]) -> bool:
    """``obeys_layout_contract``: a gradient lies as its parameter, or in order."""
    if not is_dense(new.shape, strides):
        return is_contiguous(new.shape, new.strides)
    return all(
        size == 1 or one == other
        for size, one, other in zip(new.shape, new.strides, strides, strict=True)
    )


def _replace(found: list[Tensor | None], place: int, new: Tensor | None) -> None:
    old = found[place]
    if old is not None:
        land(old)
    if new is not None:
        take_off(new)
    found[place] = new


def _replaced(old: Tensor, new: Tensor) -> Tensor:
    land(old)
    take_off(new)
    return new


def _sum(old: Tensor, new: Tensor) -> Tensor:
    """Of two gradients of one tensor, in place where nobody else looks at the first."""
    tracer = tracer_at(old.device)
    if tracer is not None:
        land(new)
        return _replaced(old, tracer.sum(old, new))
    storage = old.storage
    in_place = storage is None or (
        old.in_flight == storage.in_flight == 1
        and not old.is_view
        and is_dense(old.shape, old.strides)
    )
    land(new)
    if in_place:
        return old
    strides = result_strides(old.shape, (old.shape, old.strides), (new.shape, new.strides))
    total = empty(old.device, old.shape, old.dtype, old.role, strides)
    return _replaced(old, total)


def take_off(gradient: Tensor) -> None:
    """It is on its way to an input."""
    gradient.in_flight += 1
    if gradient.storage is not None:
        gradient.storage.in_flight += 1


def land(gradient: Tensor) -> None:
    """It is no longer on its way."""
    gradient.in_flight -= 1
    if gradient.storage is not None:
        gradient.storage.in_flight -= 1


class Packed(Protocol):
    """The saved tensors of an operation, put away."""

    def unpack(self) -> tuple[Tensor | None, ...]:
        """The tensors."""


class Saver(Protocol):
    """Takes what operations save while a device has it."""

    def save(
        self, saved: tuple[Tensor | None, ...], outs: Sequence[Tensor], /
    ) -> tuple[Tensor | None, ...] | Packed:
        """Returns what the operation that makes ``outs`` holds in the place of the saved
        tensors."""


def saver_at(device: Device) -> Saver | None:
    """Returns the hooks that take the saved tensors of a device; None if there are none."""
    saver: Saver | None = device.saver
    return saver


Gradients: TypeAlias = "Iterable[Tensor | None]"
Saved: TypeAlias = "tuple[Tensor | None, ...] | Packed"

numbers = count()


class Entangled(Exception):
    """A layer that was copied as one is not: a part of it is used elsewhere, or changes."""


# PyTorch's words.
TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)
CHANGED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation"
)
NO_GRAPH = "element 0 of tensors does not require grad and does not have a grad_fn"


class Operation(Node):
    """A differentiable operation.

    ``backward`` gets the outputs' gradients and what was saved, in this order. ``context`` lives as
    long as the node, which the tensors that it made hold, has it run or not.
    """

    __slots__ = ("backward", "context", "saved")

    def __init__(
        self,
        edges: tuple[tuple[Node, int] | None, ...],
        outputs: tuple[tuple[Shape, Dtype, Role], ...],
        backward: Callable[..., Gradients],
        saved: Saved,
    ) -> None:
        super().__init__(edges, outputs, next(numbers))
        self.backward: Callable[..., Gradients] | None = backward
        self.saved = saved
        self.context: object | None = None

    def run(self) -> list[Tensor | None]:
        """The gradients of the inputs; what was saved and what came in is let go.

        What saved nothing may run again: a view, or autocast's copy of a weight in a block with
        several backward passes (torch/csrc/autograd/saved_variable.cpp, ``ERR_BACKWARD_TWICE``).
        """
        given, self.gradients = self.gradients, [None] * len(self.gradients)
        backward, packed = self.backward, self.saved
        if packed != ():
            self.backward, self.saved = None, ()
        if all(each is None for each in given):
            return [None] * len(self.edges)
        if backward is None:
            raise Refused(TWICE, of_graph=True)
        if isinstance(packed, tuple):
            self._check(packed)
            found = matched(self, backward(*given, *packed))
        else:  # what was put away is let go before the gradients are summed and cast
            found = matched(self, backward(*given, *packed.unpack()))
        for each in given:
            if each is not None:
                land(each)
        return found

    def _check(self, saved: tuple[Tensor | None, ...]) -> None:
        """Raises Refused if the program wrote into what was saved
        (torch/csrc/autograd/saved_variable.cpp, ``unpack``)."""
        for each in saved:
            storage = None if each is None else each.storage
            if each is not None and storage is not None and storage.written > self.number:
                kind = f"torch.cuda.{scalar_name(each.dtype)}Tensor {sizes(each.shape)}"
                raise Refused(f"{CHANGED}: [{kind}]", of_graph=True, blamed=storage.writer)

    def run_again(self) -> list[Tensor | None]:
        """The same, and what was saved stays."""
        kept = self.backward, self.saved
        found = self.run()
        self.backward, self.saved = kept
        return found


class Leaf(Node):
    """Puts a parameter's gradient in ``.grad`` once all uses have sent theirs.

    ``before`` may change what comes in (``register_hook``), ``after`` is called when it is there,
    while the incoming gradient is still held (``register_post_accumulate_grad_hook``), ``hook``
    after both. ``holds`` keeps the memory of the tensor if the program lets it go before its graph.
    """

    __slots__ = ("after", "before", "gradient", "holds", "hook", "strides")

    def __init__(self, parameter: Tensor) -> None:
        meta = (parameter.shape, parameter.dtype, parameter.role)
        super().__init__((), (meta,), sys.maxsize)
        self.strides = parameter.strides
        self.gradient: Tensor | None = None
        self.holds: Tensor | None = None
        self.hook: Callable[[], None] | None = None
        self.before: list[Callable[[Tensor], Tensor | None]] = []
        self.after: list[Callable[[], None]] = []

    @property
    def is_watched(self) -> bool:
        """Whether something is called as its gradient comes."""
        return self.hook is not None or bool(self.before or self.after)

    def run(self) -> list[Tensor | None]:
        """Keeps the first gradient, or copies it if others look at it; adds later ones."""
        (new,), self.gradients = self.gradients, [None]
        if new is None:
            return []
        for hook in self.before:
            new = changed(new, hook(new))
        tracer = tracer_at(new.device)
        if tracer is not None:
            tracer.land(self, new)
        elif self.gradient is None:
            shape, dtype, role = self.outputs[0]
            if new.in_flight > 1 or not lies_as(new, self.strides):
                strides = self.strides if is_dense(shape, self.strides) else None
                self.gradient = empty(new.device, shape, dtype, role.gradient, strides)
            else:
                self.gradient = new.detach()
        for told in (*self.after, self.hook):
            if told is not None:
                told()
        land(new)
        return []


def write(x: Tensor, writer: object) -> None:
    """The program at ``writer`` is about to write into ``x``, a result that learns."""
    if x.storage is not None and x.node is not None and x.device.grad_enabled:
        x.storage.written, x.storage.writer = next(numbers), writer


def record(
    out: Tensor,
    inputs: Iterable[Tensor | None],
    backward: Callable[..., Gradients],
    *saved: Tensor | None,
) -> Tensor:
    """Makes ``out`` differentiable if one of ``inputs`` is; returns it.

    ``backward`` maps the gradient of ``out`` and ``saved`` to the gradients of ``inputs``.
    """
    if out.device.grad_enabled:
        edges = tuple(
            None if each is None or each.node is None else (each.node, each.index)
            for each in inputs
        )
        if any(edges):
            # A node does not hold its own output, which holds it.
            kept = tuple(out.detach() if each is out else each for each in saved)
            saver = saver_at(out.device)
            put = kept if saver is None else saver.save(kept, (out,))
            node = Operation(edges, ((out.shape, out.dtype, out.role),), backward, put)
            out.node, out.index = node, 0  # one of several outputs may be written into
            locator = out.device.tape.locator
            if locator is not None:
                locator.made(node.number)
    return out


def record_all(
    outs: Sequence[Tensor],
    inputs: Iterable[Tensor | None],
    backward: Callable[..., Gradients],
    *saved: Tensor | None,
) -> Sequence[Tensor]:
    """The same for an operation of several outputs."""
    first = outs[0]
    if first.device.grad_enabled:
        edges = tuple(
            None if each is None or each.node is None else (each.node, each.index)
            for each in inputs
        )
        if any(edges):
            metas = tuple((out.shape, out.dtype, out.role) for out in outs)
            own = {id(out) for out in outs}
            kept = tuple(each.detach() if id(each) in own and each else each for each in saved)
            saver = saver_at(first.device)
            put = kept if saver is None else saver.save(kept, outs)
            node = Operation(edges, metas, backward, put)
            locator = first.device.tape.locator
            if locator is not None:
                locator.made(node.number)
            for index, out in enumerate(outs):
                if out.dtype.is_differentiable:
                    out.node, out.index = node, index
    return outs


def run_backward(loss: Tensor, gradient: Tensor, *, retain: bool = False) -> None:
    """``loss.backward(gradient)``: the newest node that has all its gradients runs first.

    With ``retain`` the graph keeps what it saved. Raises Refused if nothing made ``loss``
    differentiable.
    """
    root = loss.node
    if root is None:
        raise Refused(NO_GRAPH, of_graph=True)
    take_off(gradient)
    take_off(gradient)  # the caller holds it, too
    receive(root, loss.index, gradient)
    run_graph(root, loss.device, retain=retain)
    land(gradient)


class _Roots(Node):
    """Hands their gradients to several outputs."""

    __slots__ = ("_gradients",)

    def __init__(self, outputs: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> None:
        pairs = [
            (each, gradient)
            for each, gradient in zip(outputs, gradients, strict=True)
            if each.node is not None and gradient is not None
        ]
        edges = tuple((each.node, each.index) for each, _ in pairs if each.node is not None)
        super().__init__(edges, (), next(numbers))
        self._gradients: list[Tensor | None] = [gradient for _, gradient in pairs]

    def run(self) -> list[Tensor | None]:
        """The gradients, on their way; the caller holds them, too."""
        found, self._gradients = self._gradients, []
        for each in found:
            if each is not None:
                take_off(each)
        return found


def run_backward_from(outputs: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> None:
    """``torch.autograd.backward(outputs, gradients)``."""
    for each in gradients:
        if each is not None:
            take_off(each)
    run_graph(_Roots(outputs, gradients), outputs[0].device)
    for each in gradients:
        if each is not None:
            land(each)


def run_graph(root: Node, device: Device, *, retain: bool = False) -> None:
    """A backward pass from a node that has its gradients: see ``run_backward``.

    Raises NotModelled if operands of a formula do not fit: the mistake is nanolint's.
    """
    try:
        _run_graph(root, device, retain=retain)
    except Refused as error:
        if error.of_graph:
            raise
        raise NotModelled(f"a gradient ({error})") from error


def _run_graph(root: Node, device: Device, *, retain: bool) -> None:
    waiting = _uses(root)
    _check_whole(waiting)
    if retain and any(node.inside for node in waiting):
        raise Entangled  # what a copied layer saved is let go with its one backward pass
    if retain and any(node.runs_once for node in waiting):
        device.tape.doubt(
            "the memory that retain_graph keeps of a compiled graph is not known; PyTorch 2.6 "
            "refuses it"
        )
    order = count()
    ready: list[tuple[int, int, Node]] = [(-root.number, next(order), root)]
    locator = device.tape.locator
    before = None if locator is None else locator.runs(None)
    with device.backward_pass():
        while ready:
            node = heappop(ready)[2]
            if locator is not None:
                locator.runs(node.number)
            made = node.run_again() if retain and isinstance(node, Operation) else node.run()
            for place, edge in enumerate(node.edges):
                if edge is None:
                    continue
                target, index = edge
                new, made[place] = made[place], None
                if new is not None:
                    receive(target, index, new)
                    new = None
                waiting[target] -= 1
                if not waiting[target]:
                    heappush(ready, (-target.number, next(order), target))
    if locator is not None:
        locator.runs(before)


def _check_whole(nodes: Collection[Node]) -> None:
    """Raise Entangled where what a node stands for is reached by another way, too."""
    seen: set[Node] = set()
    for node in nodes:
        if node.inside:
            inside = node.inside()
            if any(each in nodes or each in seen for each in inside):
                raise Entangled
            seen.update(inside)


def _uses(root: Node) -> dict[Node, int]:
    """How many gradients each node that ``root`` reaches waits for."""
    waiting: dict[Node, int] = {root: 0}
    unseen = [root]
    while unseen:
        for edge in unseen.pop().edges:
            if edge is not None:
                node = edge[0]
                if node in waiting:
                    waiting[node] += 1
                else:
                    waiting[node] = 1
                    unseen.append(node)
    return waiting
