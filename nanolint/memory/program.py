"""The seam between train.py's loop (training.py) and what one call of the model allocates.

Two programs write a model call's events: eager.py and compiled.py. A program owns whatever its
forward saves for its backward; training.py owns parameters, batches, outputs and gradients.
All sizes are bytes, all parameters and gradients are float32, as in nanoGPT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from nanolint.frozen import dataclass
from nanolint.memory.constants import DEFAULT_SM_COUNT, cublas_workspace_bytes

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.memory.tape import Handle
    from nanolint.run.run import Attention, Run


class Parameter(NamedTuple):
    """One float32 parameter tensor."""

    name: str  # without the layer's index: "h.mlp.c_fc.weight"
    numel: int

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor, and of its gradient and of each of its two Adam moments."""
        return 4 * self.numel


@dataclass(frozen=True, slots=True)
class Shapes:
    """The numbers that decide every tensor's size. B, T, L, H, C, V in nanoGPT's own words."""

    batch_size: int  # B
    block_size: int  # T
    n_layer: int  # L
    n_head: int  # H
    n_embd: int  # C
    vocab_size: int  # V
    dropout: bool
    bias: bool
    dtype: str  # "float32" | "bfloat16" | "float16": autocast's dtype, off for float32
    attention: Attention
    sm_count: int = DEFAULT_SM_COUNT
    workspace_bytes: int = 0  # cuBLAS's, per thread that multiplies; 0 leaves it out

    @classmethod
    def of(cls, run: Run, gpu: Gpu | None = None) -> Shapes:
        """The shapes of ``run`` on ``gpu``."""
        capability = gpu.compute_capability if gpu else None
        return cls(
            batch_size=run.batch_size,
            block_size=run.block_size,
            n_layer=run.n_layer,
            n_head=run.n_head,
            n_embd=run.n_embd,
            vocab_size=run.vocab_size,
            dropout=run.dropout > 0,
            bias=run.bias,
            dtype=run.dtype,
            attention=run.attention,
            sm_count=(gpu.sm_count if gpu else None) or DEFAULT_SM_COUNT,
            workspace_bytes=cublas_workspace_bytes(capability),
        )

    @property
    def half(self) -> bool:
        """Whether autocast computes in two bytes."""
        return self.dtype != "float32"

    @property
    def itemsize(self) -> int:
        """Bytes per element of a matrix product's result."""
        return 2 if self.half else 4

    @property
    def tokens(self) -> int:
        """B*T: rows of every activation matrix."""
        return self.batch_size * self.block_size

    @property
    def head_size(self) -> int:
        """D = C/H."""
        return self.n_embd // self.n_head

    @property
    def logits_bytes(self) -> int:
        """The (B*T, V) logits in the dtype of the products."""
        return self.itemsize * self.tokens * self.vocab_size

    @property
    def index_bytes(self) -> int:
        """One (B, T) int64 batch: X, or Y."""
        return 8 * self.tokens

    @property
    def block_parameters(self) -> tuple[Parameter, ...]:
        """One Block's parameters, in nn.Module order."""
        c = self.n_embd
        linear = (
            ("ln_1", c, c),
            ("attn.c_attn", 3 * c * c, 3 * c),
            ("attn.c_proj", c * c, c),
            ("ln_2", c, c),
            ("mlp.c_fc", 4 * c * c, 4 * c),
            ("mlp.c_proj", 4 * c * c, c),
        )
        return tuple(
            parameter
            for name, weight, bias in linear
            for parameter in self._pair(name, weight, bias)
        )

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters in nanoGPT's order: wte (tied with lm_head), wpe, L blocks, ln_f."""
        c = self.n_embd
        embeddings = (
            Parameter("wte.weight", self.vocab_size * c),
            Parameter("wpe.weight", self.block_size * c),
        )
        block = tuple(Parameter(f"h.{name}", numel) for name, numel in self.block_parameters)
        return embeddings + block * self.n_layer + self._pair("ln_f", c, c)

    def _pair(self, name: str, weight: int, bias: int) -> tuple[Parameter, ...]:
        pair = (Parameter(f"{name}.weight", weight), Parameter(f"{name}.bias", bias))
        return pair if self.bias else pair[:1]


class Inputs(NamedTuple):
    """A batch on the device: X and Y, (B, T) int64 each."""

    x: Handle
    y: Handle


class Outputs(NamedTuple):
    """What ``logits, loss = model(X, Y)`` binds: (B, T, V) and a float32 scalar."""

    logits: Handle
    loss: Handle


class Program(Protocol):
    """How one call of the model allocates. Made as ``Program(shapes, recorder)``.

    The gradient scaler, batches and the optimizer are training.py's. So is cuBLAS's workspace,
    unless the program takes it itself: once per thread, right after its first product's output.
    ``previous`` is what the names ``logits, loss`` still hold: the program frees it where Python's
    assignment does, after the model call has returned and before autocast's block ends.
    """

    def evaluate(self, inputs: Inputs, previous: Outputs | None) -> Outputs:
        """A forward pass under no_grad in eval mode. The caller keeps and frees ``inputs``."""

    def forward(self, inputs: Inputs, previous: Outputs | None) -> Outputs:
        """A training forward pass, with ``loss = loss / gradient_accumulation_steps`` at its end.

        ``inputs`` now belong to the program, which frees them in ``backward``: train.py rebinds
        X, Y to the next batch before that.
        """

    def backward(self, gradients: list[Handle] | None) -> list[Handle]:
        """The backward pass of the last ``forward``; frees all it saved, and its inputs.

        ``gradients`` are the accumulated ones, in the order of ``Shapes.parameters``, or None in
        the first micro-step of an optimizer step. Returns the gradients afterwards: the same
        handles when it accumulates in place. The loss that is differentiated stays the caller's.
        """
