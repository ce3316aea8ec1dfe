"""train.py from the model's ``.to(device)`` to a later estimate_loss, driving either program.

Only repeats that can matter are played (see played.py). Parameters, gradients and Adam's moments
are float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.constants import DDP_BUCKET_BYTES, DDP_FIRST_BUCKET_BYTES, GRAD_NORM_CHUNK
from nanolint.memory.loop.played import BATCHES, LATE_BATCHES, MICRO_STEPS, played
from nanolint.memory.loop.repeats import Repeats
from nanolint.memory.program import Inputs, Outputs
from nanolint.memory.tape import Component, Phase
from nanolint.run.run import Attention

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.memory.program import Parameter, Program, Shapes
    from nanolint.memory.tape import Handle, Tape
    from nanolint.run.run import Run

OPTIMIZER = Component.OPTIMIZER


def train(
    run: Run,
    shapes: Shapes,
    program: Program,
    rec: Tape,
    micro_steps: Sequence[int] = MICRO_STEPS,
    *,
    workspace_bytes: int = 0,
    other_layers: int = 0,
) -> None:
    """Write the events of ``run`` to ``rec``, its model calls by ``program``.

    ``workspace_bytes`` is cuBLAS's per thread, 0 for a program that takes it itself.
    ``other_layers`` are those beyond ``shapes.n_layer``, each kind of their tensors as one block.
    ``micro_steps`` are those that are played of the first optimizer steps, at most.
    """
    training = _Training(run, shapes, program, rec)
    training.workspaces = dict.fromkeys(("main", "autograd"), workspace_bytes)
    training.other_layers = other_layers
    training.run(micro_steps)


class _Training:
    def __init__(self, run: Run, shapes: Shapes, program: Program, rec: Tape) -> None:
        self._run = run
        self._shapes = shapes
        self._program = program
        self._rec = rec
        self._repeats = Repeats(rec)
        self._alloc, self._free = rec.alloc, rec.free
        self._parameters = shapes.parameters
        self._scaled = run.dtype == "float16"  # the GradScaler is enabled
        self._batch: Inputs
        self._outputs: Outputs | None = None  # what train.py's own logits, loss hold
        self._gradients: list[Handle] | None = None
        self._has_adam = False
        self._has_scale = False
        self.workspaces: dict[str, int] = {}
        self.other_layers = 0

    def run(self, micro_steps: Sequence[int]) -> None:
        """Events of the whole run."""
        run, rec = self._run, self._rec
        rec.phase(Phase.EVAL)
        self._model()
        self._batch = self._get_batch()
        self._estimate_loss(BATCHES)
        if run.eval_only:
            return
        for most in micro_steps[: max(1, run.max_iters + 1)]:
            for _ in range(played(run.micro_steps, most)):
                self._micro_step()
            rec.phase(Phase.OPTIMIZER)
            self._step()
        if 0 < run.eval_interval <= run.max_iters:
            rec.phase(Phase.EVAL_LATE)
            self._estimate_loss(LATE_BATCHES)

    def _model(self) -> None:
        """Parameters, buffers, and what a checkpoint or DDP adds for the whole run."""
        run = self._run
        if run.init_from == "resume":  # state_dict stays a global; so do Adam's loaded moments
            self._state("checkpoint's parameter")
            self._adam()
        self._state("parameter")
        if run.world_size > 1:
            self._distribute()

    def _state(self, name: str) -> None:
        """Parameters and buffers, in module order: the slow path's mask follows c_proj."""
        last = "h.attn.c_proj.bias" if self._shapes.bias else "h.attn.c_proj.weight"
        manual = self._shapes.attention is Attention.MATH
        self._others(4 * self._other_parameters(), f"{name}s of other layers", Component.PARAMETERS)
        for parameter in self._parameters:
            label = f"{name} {parameter.name} float32"
            self._alloc(parameter.nbytes, label, Component.PARAMETERS)
            if manual and parameter.name == last:
                nbytes = 4 * self._shapes.block_size**2
                self._alloc(nbytes, "causal mask (T, T) float32", Component.PARAMETERS)

    def _others(self, nbytes: int, name: str, component: Component) -> Handle | None:
        return self._alloc(nbytes, name, component) if nbytes else None

    def _other_parameters(self) -> int:
        block = sum(parameter.numel for parameter in self._shapes.block_parameters)
        return self.other_layers * block

    def _other_activations(self) -> int:
        """Saved per layer: see docs/memory-model.md's table, without the slow path's scores."""
        shapes = self._shapes
        hidden, rows = shapes.tokens * shapes.n_embd, shapes.tokens
        per_layer = (36 if shapes.half else 64) * hidden + 16 * rows + 4 * rows * shapes.n_head
        copies = 24 * shapes.n_embd**2 if shapes.half else 0
        return self.other_layers * (per_layer + 2 * hidden * shapes.dropout + copies)

    def _distribute(self) -> None:
        """DDP's reducer keeps a flat copy of all gradients, in buckets."""
        for nbytes in buckets(self._parameters):
            self._alloc(nbytes, "DDP gradient bucket float32", Component.GRADIENTS)

    def _get_batch(self) -> Inputs:
        nbytes = self._shapes.index_bytes
        x = self._alloc(nbytes, "X (B, T) int64", Component.INPUTS)
        return Inputs(x, self._alloc(nbytes, "Y (B, T) int64", Component.INPUTS))

    def _workspace(self, thread: str) -> None:
        nbytes = self.workspaces.pop(thread, 0)
        if nbytes:
            self._alloc(nbytes, "cuBLAS workspace", Component.WORKSPACE)

    def _estimate_loss(self, batches: int) -> None:
        """Its X, Y, logits and loss are locals: they live beside train.py's own."""
        batch: Inputs | None = None
        outputs: Outputs | None = None
        for _split in range(2):
            for _ in range(min(batches, self._run.eval_iters)):
                batch, outputs = self._evaluate(batch, outputs)
        if batch is not None and outputs is not None:
            self._free(*batch, *outputs)

    def _evaluate(self, batch: Inputs | None, outputs: Outputs | None) -> tuple[Inputs, Outputs]:
        """One batch of estimate_loss; ``batch`` and ``outputs`` are those of the one before."""

        def play() -> Sequence[Handle]:
            fetched = self._get_batch()
            if batch is not None:
                self._free(*batch)
            self._workspace("main")
            return (*fetched, *self._program.evaluate(fetched, outputs))

        if batch is None or outputs is None:
            x, y, *left = play()
        else:
            x, y, *left = self._repeats.play("evaluation", (*batch, *outputs), play)
        return Inputs(x, y), Outputs(*left)

    def _micro_step(self) -> None:
        """The very first also takes a workspace, and the gradient scaler's state."""
        if self._outputs is None:
            self._play_micro_step()
            return
        gradients = self._gradients or []
        held = (*self._batch, *self._outputs, *gradients)
        kind = "later micro-step" if gradients else "first micro-step"
        x, y, logits, loss, *gradients = self._repeats.play(kind, held, self._play_micro_step)
        self._batch, self._outputs = Inputs(x, y), Outputs(logits, loss)
        self._gradients = gradients

    def _play_micro_step(self) -> Sequence[Handle]:
        rec = self._rec
        rec.phase(Phase.FORWARD)
        name = "activations of other layers"
        saved = self._others(self._other_activations(), name, Component.ACTIVATIONS)
        self._outputs = self._program.forward(self._batch, self._outputs)
        self._batch = self._get_batch()
        rec.phase(Phase.BACKWARD)
        scalars = self._scale_loss() if self._scaled else []
        scalars.append(self._scalar("gradient of the loss", Component.LOGITS_AND_LOSS))
        self._workspace("autograd")
        gradients = self._program.backward(self._gradients)
        if saved is not None:
            self._free(saved)
        if self._gradients is None:
            nbytes = 4 * self._other_parameters()
            others = self._others(nbytes, "gradients of other layers", Component.GRADIENTS)
            gradients = gradients if others is None else [*gradients, others]
        self._gradients = gradients
        self._free(*reversed(scalars))
        return (*self._batch, *self._outputs, *gradients)

    def _scalar(self, name: str, component: Component = OPTIMIZER) -> Handle:
        return self._alloc(4, name, component)

    def _scale_loss(self) -> list[Handle]:
        """``scaler.scale(loss)``; its first call makes the scale and the growth tracker."""
        if not self._has_scale:
            self._has_scale = True
            self._scalar("gradient scale")
            self._scalar("gradient scaler's growth tracker")
        return [self._scalar("scaled loss", Component.LOGITS_AND_LOSS)]

    def _step(self) -> None:
        """Unscale, clip, step, update, zero_grad."""
        clips = self._run.grad_clip != 0
        found = self._unscale() if self._scaled else None
        if clips:
            self._clip()
        if found is not None:
            total = self._scalar("gradient scaler's found_inf")
        if not self._has_adam:
            self._adam()
        if found is not None:
            self._free(total, found)
        assert self._gradients is not None
        self._free(*self._gradients)
        self._gradients = None

    def _unscale(self) -> Handle:
        """``scaler.unscale_``: 1/scale in float64, found_inf per device; returns found_inf."""
        wide = self._scalar("gradient scale float64")
        inverse = self._scalar("inverse gradient scale float64")
        self._free(wide)
        narrow = self._scalar("inverse gradient scale")
        self._free(inverse)
        on_host = self._scalar("found_inf")
        found = self._scalar("found_inf")
        self._free(self._scalar("inverse gradient scale"), narrow, on_host)
        return found

    def _clip(self) -> None:
        """``clip_grad_norm_``: a norm per tensor in chunks, then the norm of the norms."""
        count = len(self._parameters)
        chunks = max(-(-parameter.numel // GRAD_NORM_CHUNK) for parameter in self._parameters)
        partial = self._alloc(4 * count * chunks, "partial gradient norms", OPTIMIZER)
        norms = [self._scalar("gradient norm") for _ in range(count)]
        self._free(partial)
        stacked = self._alloc(4 * count, "gradient norms", OPTIMIZER)
        norm = self._scalar("total gradient norm")
        self._free(stacked, *reversed(norms))
        summed = self._scalar("clip coefficient")
        inverse = self._scalar("clip coefficient")
        coefficient = self._scalar("clip coefficient")
        self._free(inverse, summed)
        clamped = self._scalar("clip coefficient")
        self._free(coefficient, clamped, norm)

    def _adam(self) -> None:
        """Fused AdamW's state, made by the first step in the order of the parameter groups."""
        self._has_adam = True
        self._others(8 * self._other_parameters(), "Adam's moments of other layers", OPTIMIZER)
        for parameter in decayed_first(self._parameters):
            self._scalar("Adam step float32")
            self._alloc(parameter.nbytes, "Adam first moment float32", OPTIMIZER)
            self._alloc(parameter.nbytes, "Adam second moment float32", OPTIMIZER)


def decayed_first(parameters: tuple[Parameter, ...]) -> list[Parameter]:
    """configure_optimizers' order: the matrices, then biases and LayerNorm weights."""

    def is_vector(parameter: Parameter) -> bool:
        return parameter.name.endswith(".bias") or ".ln_" in f".{parameter.name}"

    return sorted(parameters, key=is_vector)


def buckets(parameters: tuple[Parameter, ...]) -> list[int]:
    """DDP's gradient buckets in bytes: from the last parameter on, one closes when it is full."""
    sizes, filled, limit = [], 0, DDP_FIRST_BUCKET_BYTES
    for parameter in reversed(parameters):
        filled += parameter.nbytes
        if filled >= limit:
            sizes.append(filled)
            filled, limit = 0, DDP_BUCKET_BYTES
    return [*sizes, filled] if filled else sizes
