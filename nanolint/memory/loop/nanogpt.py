"""train.py from the model's ``.to(device)`` to a later estimate_loss, statement by statement.

Only repeats that can matter are played (see played.py). Parameters, gradients and Adam's moments
are float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.twin import Kind, tensor_on
from nanolint.memory.loop.repeats import Repeats
from nanolint.script.grad_scaler import GradScaler
from nanolint.script.group import Group
from nanolint.script.played import BATCHES, LATE_BATCHES, MICRO_STEPS, played
from nanolint.script.reducer import Reducer
from nanolint.tape.constants import GRAD_NORM_CHUNK
from nanolint.tape.tape import Component, Phase
from nanolint.tensors.autograd import run_backward
from nanolint.tensors.dtypes import DTYPES, FLOAT32, INT64
from nanolint.tensors.ops.pointwise import div
from nanolint.tensors.parameter import Parameter
from nanolint.tensors.role import role
from nanolint.tensors.tensor import empty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.interpreter.module import Module
    from nanolint.run.run import Run
    from nanolint.tensors.autograd import Leaf
    from nanolint.tensors.device import Device, Storage
    from nanolint.tensors.tensor import Tensor

OPTIMIZER = Component.OPTIMIZER
# In the first DDP sees the order of the gradients; in the second it has its buckets made again, and
# lets go of the old ones where it exchanges the first new one.
STEPS_OF_OWN = 2
GRADIENT_OF_LOSS = role("loss", Component.LOGITS_AND_LOSS).gradient


def train(
    run: Run, model: Module, device: Device, micro_steps: Sequence[int] = MICRO_STEPS
) -> None:
    """Write the events of ``run`` to the tape of ``device``.

    ``micro_steps`` are those that are played of the first optimizer steps, at most.
    """
    training = _Training(run, model, device)
    training.run(micro_steps)
    device.tape.close()


class _Names:
    """What the names ``X, Y, logits, loss`` of a loop hold."""

    X: Tensor | None = None
    Y: Tensor | None = None
    logits: Tensor | None = None
    loss: Tensor | None = None

    def storages(self) -> list[Storage]:
        held = (self.X, self.Y, self.logits, self.loss)
        return [each.storage for each in held if each is not None and each.storage is not None]


class _Training:
    def __init__(self, run: Run, model: Module, device: Device) -> None:
        self._run = run
        self._model = model
        self._device = device
        self._half = None if run.dtype == "float32" else DTYPES[run.dtype]
        self._parameters = model.parameters()
        self._repeats = Repeats(device.tape)
        self._names = _Names()
        self._scaler = GradScaler(device) if run.dtype == "float16" else None
        self._moments: list[Tensor] = []
        self._gradients: list[tuple[Leaf, Kind]] = []
        self._checkpoint: list[Tensor] = []
        self._group = Group(run.world_size, run.torch)
        self._reducer: Reducer | None = None
        self._exchanged = 0  # optimizer steps whose gradients were
        self._sends_buffers = True

    def run(self, micro_steps: Sequence[int]) -> None:
        """The whole run."""
        run, tape = self._run, self._device.tape
        tape.phase(Phase.EVAL)
        self._set_up()
        self._names.X, self._names.Y = self._get_batch()
        self._estimate_loss(BATCHES)
        if run.eval_only:
            return
        for most in micro_steps[: max(1, run.max_iters + 1)]:
            last = played(run.micro_steps, most) - 1
            for micro_step in range(last + 1):
                self._micro_step(exchanges=micro_step == last)
            tape.phase(Phase.OPTIMIZER)
            self._step()
        if 0 < run.eval_interval <= run.max_iters:
            tape.phase(Phase.EVAL_LATE)
            self._estimate_loss(LATE_BATCHES)

    def _set_up(self) -> None:
        """The model moves to the card; a checkpoint or DDP adds what lives through the run."""
        run = self._run
        if run.init_from == "resume":  # state_dict stays a global; so do Adam's loaded moments
            self._checkpoint = [each.copy("checkpoint's parameter") for each in self._model.state()]
            self._adam()
        for each in self._model.state():
            each.move()
        if run.world_size > 1:
            buffers = [each for each in self._model.state() if not isinstance(each, Parameter)]
            self._reducer = Reducer(self._device, self._group, self._parameters, buffers)

    def _get_batch(self) -> tuple[Tensor, Tensor]:
        shape = self._run.batch_size, self._run.block_size
        x = empty(self._device, shape, INT64, role("X", Component.INPUTS, "(B, T)"))
        y = empty(self._device, shape, INT64, role("Y", Component.INPUTS, "(B, T)"))
        return x, y

    def _estimate_loss(self, batches: int) -> None:
        """Its X, Y, logits and loss are locals: they live beside train.py's own."""
        names = _Names()
        self._model.train(False)
        with self._device.no_grad():
            for _split in range(2):
                for _ in range(min(batches, self._run.eval_iters)):
                    if names.loss is None:
                        self._evaluate(names)
                    else:
                        self._repeats.play(
                            "evaluation", names.storages, lambda: self._evaluate(names)
                        )
        self._model.train()

    def _evaluate(self, names: _Names) -> None:
        names.X, names.Y = self._get_batch()
        if self._reducer is not None:
            self._before_model(self._reducer, exchanges=False)
        with self._device.autocast(self._half):
            names.logits, names.loss = self._model(names.X, names.Y)

    def _micro_step(self, *, exchanges: bool) -> None:
        """The very first also takes workspaces, and the gradient scaler's state; the first of each
        step makes the gradients. What DDP does in the first two steps is no other's."""
        has_gradients = any(each.leaf.gradient is not None for each in self._parameters)
        if self._reducer is not None:
            self._device.tape.phase(Phase.FORWARD)
            self._before_model(self._reducer, exchanges=exchanges)
            self._group.settle()
        if self._reducer is not None and exchanges and self._exchanged < STEPS_OF_OWN:
            self._exchanged += 1
            (self._forward_and_backward if has_gradients else self._make_gradients)()
        elif has_gradients:
            self._repeats.play("later micro-step", self._held, self._forward_and_backward)
        elif self._gradients:
            self._repeats.play(
                "first micro-step", self._held, self._make_gradients, self._take_gradients
            )
        else:
            self._make_gradients()

    def _make_gradients(self) -> None:
        self._forward_and_backward()
        found = [(each.leaf, each.leaf.gradient) for each in self._parameters]
        made = [(leaf, gradient) for leaf, gradient in found if gradient is not None]
        no_bytes = any(gradient.storage is None for _, gradient in made)
        self._gradients = [] if no_bytes else [(leaf, Kind.of(each)) for leaf, each in made]

    def _take_gradients(self, storages: list[Storage]) -> None:
        """They lie as those of the micro-step that was copied."""
        for (leaf, kind), storage in zip(self._gradients, storages, strict=True):
            leaf.gradient = tensor_on(self._device, storage, kind)

    def _before_model(self, reducer: Reducer, *, exchanges: bool) -> None:
        """DDP's part before the model is called; ``exchanges`` in the backward pass behind it."""
        reducer.before_forward(sends_buffers=self._sends_buffers)
        reducer.after_forward(exchanges=exchanges)
        self._sends_buffers = exchanges

    def _held(self) -> list[Storage]:
        gradients = (each.leaf.gradient for each in self._parameters)
        held = [each.storage for each in gradients if each is not None and each.storage is not None]
        return [*self._names.storages(), *held]

    def _forward_and_backward(self) -> None:
        names, device = self._names, self._device
        device.tape.phase(Phase.FORWARD)
        with device.autocast(self._half):
            names.logits, names.loss = self._model(names.X, names.Y)
            names.loss = div(names.loss, self._run.micro_steps)
        names.X, names.Y = self._get_batch()
        device.tape.phase(Phase.BACKWARD)
        loss = self._scaler.scale(names.loss) if self._scaler else names.loss
        run_backward(loss, empty(device, (), FLOAT32, GRADIENT_OF_LOSS))

    def _step(self) -> None:
        """Unscale, clip, step, update, zero_grad."""
        found = self._scaler.unscale() if self._scaler else None
        if self._run.grad_clip != 0:
            self._clip()
        total = self._scaler.found_inf() if self._scaler else None
        if not self._moments:
            self._adam(only_learned=True)
        del total, found
        for parameter in self._model.decayed_first():  # zero_grad goes by the optimizer's groups
            parameter.leaf.gradient = None

    def _scalar(self, label: str) -> Tensor:
        return empty(self._device, (), FLOAT32, role(label, OPTIMIZER))

    def _vector(self, numel: int, label: str) -> Tensor:
        return empty(self._device, (numel,), FLOAT32, role(label, OPTIMIZER))

    def _clip(self) -> None:
        """``clip_grad_norm_``: a norm per tensor in chunks, then the norm of the norms."""
        learned = [each for each in self._parameters if each.leaf.gradient is not None]
        count = len(learned)
        chunks = max(-(-parameter.numel // GRAD_NORM_CHUNK) for parameter in learned)
        partial = self._vector(count * chunks, "partial gradient norms")
        norms = [self._scalar("gradient norm") for _ in range(count)]
        del partial
        stacked = self._vector(count, "gradient norms")
        norm = self._scalar("total gradient norm")
        del stacked, norms
        summed = self._scalar("clip coefficient")
        inverse = self._scalar("clip coefficient")
        coefficient = self._scalar("clip coefficient")
        del inverse, summed
        clamped = self._scalar("clip coefficient")
        del coefficient, clamped, norm

    def _adam(self, *, only_learned: bool = False) -> None:
        """Fused AdamW's state, made by the first step in the order of the parameter groups.

        ``only_learned``: of what the loss depends on, which has a gradient.
        """
        for parameter in self._model.decayed_first():
            if only_learned and parameter.leaf.gradient is None:
                continue
            self._moments += [
                self._scalar("Adam step"),
                *(
                    empty(self._device, parameter.shape, parameter.dtype, role(label, OPTIMIZER))
                    for label in ("Adam first moment", "Adam second moment")
                ),
            ]
