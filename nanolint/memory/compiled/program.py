"""The compiled program: torch.compile's default mode, nanoGPT's default.

The graphs are Inductor's (forward.py, backward.py), each planned once (planner.py) and then played
for every call. Traced with torch 2.13.0; bytes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanolint.memory.compiled.backward import Backward
from nanolint.memory.compiled.forward import Forward
from nanolint.memory.compiled.order import reorder
from nanolint.memory.compiled.planner import Planner
from nanolint.memory.model.module import Module
from nanolint.memory.tape import Component
from nanolint.memory.tensors.autograd import numbers
from nanolint.memory.tensors.device import Storage
from nanolint.memory.tensors.dtypes import DTYPES, FLOAT32
from nanolint.memory.tensors.gradients import land, matched
from nanolint.memory.tensors.layout import contiguous_strides
from nanolint.memory.tensors.role import role
from nanolint.memory.tensors.tensor import Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.memory.compiled.graph import Graph
    from nanolint.memory.shapes import Shapes
    from nanolint.memory.tape import Handle
    from nanolint.memory.tensors.device import Device
    from nanolint.memory.tensors.dtypes import Dtype
    from nanolint.memory.tensors.layout import Shape
    from nanolint.memory.tensors.role import Role

X_SLOT, Y_SLOT, FIRST_SLOT = 0, 1, 2

LOGITS = role("logits", Component.LOGITS_AND_LOSS, "(B*T, V)")
LOSS = role("loss", Component.LOGITS_AND_LOSS)
ZEROS = role("zeros for the logits", Component.LOGITS_AND_LOSS, "(B*T, V)")


class Compiled(Module):
    """``torch.compile(model)``: its parameters, and its calls as Inductor's graphs make them."""

    def __init__(self, model: Module, device: Device, shapes: Shapes) -> None:
        self.model = model
        self._device = device
        self._shapes = shapes
        self._evaluation: _Call | None = None
        self._training: _Call | None = None
        self._gradient: _Gradient | None = None
        self._parameters = model.parameters()

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """x and y (B, T) int64 to the logits and the loss."""
        device, shapes = self._device, self._shapes
        if device.awaits_workspace:
            device.multiply()
        if not device.grad_enabled:
            if self._evaluation is None:
                self._evaluation = _Call(Forward(shapes, training=False))
            return self._evaluation.run(x, y, device, shapes)[:2]
        if self._training is None:
            self._training = _Call(Forward(shapes, training=True))
            self._gradient = _Gradient(shapes, self._training)
        assert self._gradient is not None
        logits, loss, slots = self._training.run(x, y, device, shapes)
        self._gradient.record(x, y, logits, loss, slots, self._parameters)
        return logits, loss


def _planner(graph: Graph, first_slot: int, shapes: Shapes) -> Planner:
    facts = shapes.inductor
    return Planner(graph, first_slot, weighs=facts.weighs_reuse, takes_off=facts.takes_off_outputs)


class _Call:
    """A planned forward graph."""

    def __init__(self, forward: Forward) -> None:
        forward.x.slot, forward.y.slot = X_SLOT, Y_SLOT
        planner = _planner(forward.graph, FIRST_SLOT, forward.shapes)
        self.plan = planner.plan()
        self.slots = planner.slots
        self.forward = forward

    def run(
        self, x: Tensor, y: Tensor, device: Device, shapes: Shapes
    ) -> tuple[Tensor, Tensor, list[Handle]]:
        """Play it; returns the logits, the loss, and the handle of every slot."""
        slots = [_handle(x), _handle(y), *[0] * (self.slots - FIRST_SLOT)]
        device.tape.play(self.plan, slots)
        shape = shapes.batch_size, shapes.block_size, shapes.vocab_size
        logits, loss = slots[self.forward.logits.slot], slots[self.forward.loss.slot]
        return (
            _tensor(device, logits, shape, DTYPES[shapes.dtype], LOGITS),
            _tensor(device, loss, (), FLOAT32, LOSS),
            slots,
        )


class _Gradient:
    """The planned backward graph of a training forward."""

    def __init__(self, shapes: Shapes, training: _Call) -> None:
        tangent, scale = training.slots, training.slots + 1
        backward = Backward(shapes, training.forward.saved, tangent, scale)
        if shapes.inductor.reorders:
            reorder(backward.graph, takes_off=shapes.inductor.takes_off_outputs)
        self._logits = training.forward.logits.slot
        planner = _planner(backward.graph, scale + 1, shapes)
        to_the_end = (tangent, scale) if shapes.inductor.holds_gradients else ()
        self.plan = planner.plan(shared=(X_SLOT, Y_SLOT, self._logits, scale), last=to_the_end)
        self._slots = planner.slots
        self._tangent, self._scale = tangent, scale
        self._gradients = [gradient.slot for gradient in backward.gradients]

    def record(
        self,
        x: Tensor,
        y: Tensor,
        logits: Tensor,
        loss: Tensor,
        slots: list[Handle],
        parameters: tuple[Tensor, ...],
    ) -> None:
        """Make ``logits`` and ``loss`` differentiable.

        The loss is all that is differentiated, so autograd hands the compiled graph zeros for its
        other output, the logits: a full buffer (https://github.com/pytorch/pytorch/issues/131794).
        """
        edges = tuple((each.node, 0) for each in parameters if each.node is not None)
        outputs = tuple((each.shape, each.dtype, each.role) for each in (logits, loss))
        shared = {X_SLOT: x.storage, Y_SLOT: y.storage, self._logits: logits.storage}
        node = _GraphNode(edges, outputs, next(numbers))
        node.play = partial(self._play, x.device, slots, shared, logits.nbytes, parameters)
        logits.node = loss.node = node
        loss.index = 1

    def _play(
        self,
        device: Device,
        slots: list[Handle],
        shared: dict[int, Storage | None],
        logits_bytes: int,
        parameters: tuple[Tensor, ...],
        of_loss: list[Storage],
    ) -> list[Tensor | None]:
        """Play it; returns the parameters' gradients. ``of_loss`` is boxed, to be let go inside."""
        handles = slots + [0] * (self._slots - len(slots))
        handles[self._tangent] = device.tape.alloc(logits_bytes, ZEROS.label, ZEROS.component)
        handles[self._scale] = of_loss[0].handle
        shared[self._scale] = of_loss.pop()
        if device.awaits_workspace:
            device.multiply()
        device.tape.play(self.plan, handles, shared)
        return [
            _tensor(device, handles[slot], each.shape, each.dtype, each.role.gradient)
            for slot, each in zip(self._gradients, parameters, strict=True)
        ]


class _GraphNode(Node):
    """A compiled graph: it lets the gradient of the loss go behind its last reader."""

    __slots__ = ("play",)
    play: Callable[[list[Storage]], list[Tensor | None]]

    def run(self) -> list[Tensor | None]:
        """The parameters' gradients."""
        of_loss, self.gradients = self.gradients[1], [None, None]
        if of_loss is None or of_loss.storage is None:
            return [None] * len(self.edges)
        land(of_loss)
        boxed = [of_loss.storage]
        del of_loss
        return matched(self, self.play(boxed))


def _handle(tensor: Tensor) -> Handle:
    assert tensor.storage is not None
    return tensor.storage.handle


def _tensor(device: Device, handle: Handle, shape: Shape, dtype: Dtype, what: Role) -> Tensor:
    storage = Storage(handle, device.tape.events)
    return Tensor(device, storage, shape, contiguous_strides(shape), dtype, what)
