"""The compiled program: torch.compile's default mode, nanoGPT's default.

The graphs are Inductor's (compiled_forward.py, compiled_backward.py), each planned once
(compiled_plan.py) and then played for every call. Traced with torch 2.13.0; bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.backward import Backward
from nanolint.memory.compiled.forward import Forward
from nanolint.memory.compiled.order import reorder
from nanolint.memory.compiled.planner import Planner
from nanolint.memory.program import Outputs
from nanolint.memory.tape import Component

if TYPE_CHECKING:
    from nanolint.memory.program import Inputs, Shapes
    from nanolint.memory.tape import Handle, Tape

X_SLOT, Y_SLOT, FIRST_SLOT = 0, 1, 2


class Compiled:
    """How one call of ``torch.compile(GPT)`` allocates. See ``program.Program``."""

    def __init__(self, shapes: Shapes, recorder: Tape) -> None:
        self._shapes = shapes
        self._recorder = recorder
        self._evaluation: _Call | None = None
        self._training: _Call | None = None
        self._gradient: _Gradient | None = None
        self._saved: list[Handle] = []

    def evaluate(self, inputs: Inputs, previous: Outputs | None) -> Outputs:
        """A forward pass in eval mode under no_grad."""
        if self._evaluation is None:
            self._evaluation = _Call(Forward(self._shapes, training=False))
        outputs, _ = self._evaluation.run(inputs, self._recorder)
        self._drop(previous)
        return outputs

    def forward(self, inputs: Inputs, previous: Outputs | None) -> Outputs:
        """A training forward pass; keeps what ``backward`` needs."""
        if self._training is None:
            self._training = _Call(Forward(self._shapes, training=True))
        outputs, self._saved = self._training.run(inputs, self._recorder)
        self._drop(previous)
        return outputs

    def backward(self, gradients: list[Handle] | None) -> list[Handle]:
        """The backward pass; frees what ``forward`` saved."""
        assert self._training is not None
        if self._gradient is None:
            self._gradient = _Gradient(self._shapes, self._training)
        new = self._gradient.run(self._saved, self._recorder)
        self._saved = []
        if gradients is None:
            return new
        self._recorder.free(*new)  # added in place to the old ones, all at once
        return gradients

    def _drop(self, previous: Outputs | None) -> None:
        if previous is not None:
            self._recorder.free(previous.logits, previous.loss)


class _Call:
    """A planned forward graph."""

    def __init__(self, forward: Forward) -> None:
        forward.x.slot, forward.y.slot = X_SLOT, Y_SLOT
        planner = Planner(forward.graph, FIRST_SLOT)
        self.plan = planner.plan()
        self.slots = planner.slots
        self.forward = forward

    def run(self, inputs: Inputs, recorder: Tape) -> tuple[Outputs, list[Handle]]:
        """Play it; returns the outputs and the handle of every slot."""
        slots = [*inputs, *[0] * (self.slots - FIRST_SLOT)]
        recorder.play(self.plan, slots)
        outputs = Outputs(slots[self.forward.logits.slot], slots[self.forward.loss.slot])
        return outputs, slots


class _Gradient:
    """The planned backward graph of a training forward."""

    def __init__(self, shapes: Shapes, training: _Call) -> None:
        tangent, scale = training.slots, training.slots + 1
        backward = Backward(shapes, training.forward.saved, tangent, scale)
        reorder(backward.graph)
        planner = Planner(backward.graph, scale + 1)
        self.plan = planner.plan()
        self.slots = planner.slots
        self.tangent = tangent
        self.logits_bytes = shapes.logits_bytes
        self.gradients = [gradient.slot for gradient in backward.gradients]

    def run(self, saved: list[Handle], recorder: Tape) -> list[Handle]:
        """Play it; returns the new gradients.

        The loss is all that is differentiated, so autograd hands the compiled graph zeros for its
        other output, the logits: a full buffer (https://github.com/pytorch/pytorch/issues/131794).
        """
        slots = saved + [0] * (self.slots - len(saved))
        loss = Component.LOGITS_AND_LOSS
        slots[self.tangent] = recorder.alloc(self.logits_bytes, "zeros for the logits", loss)
        slots[self.tangent + 1] = recorder.alloc(4, "gradient of the loss", loss)
        recorder.play(self.plan, slots)
        return [slots[slot] for slot in self.gradients]
