"""The forward pass of nanoGPT's model in eager mode, tensor by tensor.

Autocast's rules decide the types: matrix products are half, LayerNorm and the residual stream
float32, cross_entropy's log_softmax half and its nll_loss float32. Lifetimes are autograd's and
Python's, traced with PyTorch 2.13 and equal to its events one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.memory.program import Outputs
from nanolint.memory.tape import Component

if TYPE_CHECKING:
    from nanolint.memory.eager.attention import Attended, Kernel
    from nanolint.memory.program import Inputs, Shapes
    from nanolint.memory.tape import Handle, Tape

ACTIVATIONS = Component.ACTIVATIONS
COPIES = Component.WEIGHT_COPIES
LOSS = Component.LOGITS_AND_LOSS


class Norm(NamedTuple):
    """What a LayerNorm saves: its input (B, T, C), mean and reciprocal deviation (B*T)."""

    x: Handle
    mean: Handle
    rstd: Handle


class Linear(NamedTuple):
    """What a Linear saves: its half weight (None in float32) and its input."""

    weight: Handle | None
    x: Handle


class Block(NamedTuple):
    """What one Block saves; the masks are None without dropout."""

    ln_1: Norm
    c_attn: Linear
    attended: Attended
    attn_proj: Linear
    attn_mask: Handle | None
    ln_2: Norm
    c_fc: Linear
    activated: Handle  # c_fc's output, GELU's input (B, T, 4C)
    mlp_proj: Linear
    mlp_mask: Handle | None


class Tail(NamedTuple):
    """What surrounds the blocks: embeddings, ln_f, lm_head, cross_entropy."""

    inputs: Inputs
    positions: Handle
    mask: Handle | None
    ln_f: Norm
    head: Linear
    log_softmax: Handle
    log_probabilities: Handle | None
    total_weight: Handle


class Saved(NamedTuple):
    """All that a training forward keeps for its backward."""

    blocks: list[Block]
    tail: Tail


class Forward:
    """The model's forward pass, for training and for evaluation."""

    def __init__(self, shapes: Shapes, rec: Tape, kernel: Kernel) -> None:
        self._shapes = shapes
        self._alloc, self._free = rec.alloc, rec.free
        self._kernel = kernel
        self._half = shapes.half
        self._width = shapes.n_embd
        self._tokens = shapes.tokens
        self._item = shapes.itemsize
        self._residual = 4 * shapes.tokens * shapes.n_embd
        self._hidden = shapes.itemsize * shapes.tokens * shapes.n_embd
        self._workspace = shapes.workspace_bytes
        self._blocks: list[Block] = []
        self._copies: list[Handle] = []  # autocast's cache: half biases, in eval half weights too

    def run(
        self, inputs: Inputs, previous: Outputs | None, *, train: bool
    ) -> tuple[Outputs, Saved | None]:
        """One call and, in training, the division of the loss."""
        alloc, free, shapes = self._alloc, self._free, self._shapes
        c, t = shapes.n_embd, shapes.block_size
        positions = alloc(8 * t, "positions (T) int64", ACTIVATIONS)
        tokens = alloc(self._residual, "token embeddings (B, T, C) float32", ACTIVATIONS)
        places = alloc(4 * t * c, "position embeddings (T, C) float32", ACTIVATIONS)
        x = alloc(self._residual, "embeddings (B, T, C) float32", ACTIVATIONS)
        mask, x = self._drop(x, 4, train)
        self._copies = []
        self._blocks = []
        saved = None
        for _ in range(shapes.n_layer):
            x = self._block(x, train)
        ln_f, normed = self._norm(x, train)
        if not train:
            free(x)
        head, logits = self._linear(
            normed, c, shapes.vocab_size, f"logits (B*T, V) {shapes.dtype}", train, LOSS
        )
        log_softmax = alloc(shapes.logits_bytes, f"log_softmax (B*T, V) {shapes.dtype}", LOSS)
        widened = None
        if self._half:
            nbytes = 4 * shapes.tokens * shapes.vocab_size
            widened = alloc(nbytes, "log-probabilities (B*T, V) float32", LOSS)
        loss = alloc(4, "loss", LOSS)
        weight = alloc(4, "loss", LOSS)
        if not train:
            free(weight, *(() if widened is None else (widened,)), log_softmax, positions)
        free(tokens, places)
        if self._half or not train:
            free(normed)
        if previous is not None:
            free(*previous)
        if train:
            tail = Tail(inputs, positions, mask, ln_f, head, log_softmax, widened, weight)
            saved = Saved(self._blocks, tail)
            divided = alloc(4, "loss", LOSS)
            free(loss)
            loss = divided
        free(*self._copies)
        return Outputs(logits, loss), saved

    def _block(self, x: Handle, train: bool) -> Handle:
        alloc, free, c, dtype = self._alloc, self._free, self._width, self._shapes.dtype
        ln_1, normed = self._norm(x, train)
        c_attn, qkv = self._linear(normed, c, 3 * c, f"c_attn output (B, T, 3C) {dtype}", train)
        attended = self._kernel.forward(qkv, train)
        attn_proj, y = self._linear(
            attended.out, c, c, f"attention c_proj output (B, T, C) {dtype}", train, cast=False
        )
        attn_mask, y = self._drop(y, self._item, train)
        if not train:
            free(attended.out)
        free(*attended.frame)
        if self._half or not train:
            free(normed)
        middle = alloc(self._residual, "residual stream (B, T, C) float32", ACTIVATIONS)
        free(y)

        ln_2, normed = self._norm(middle, train)
        c_fc, wide = self._linear(normed, c, 4 * c, f"c_fc output (B, T, 4C) {dtype}", train)
        gelu = alloc(4 * self._hidden, f"GELU output (B, T, 4C) {dtype}", ACTIVATIONS)
        if not train:
            free(wide)
        mlp_proj, y = self._linear(
            gelu, 4 * c, c, f"mlp c_proj output (B, T, C) {dtype}", train, cast=False
        )
        if not train:
            free(gelu)
        mlp_mask, y = self._drop(y, self._item, train)
        if self._half or not train:
            free(normed)
        out = alloc(self._residual, "residual stream (B, T, C) float32", ACTIVATIONS)
        free(y)
        if train:
            attention = (ln_1, c_attn, attended, attn_proj, attn_mask)
            self._blocks.append(Block(*attention, ln_2, c_fc, wide, mlp_proj, mlp_mask))
        else:
            free(middle, x)
        return out

    def _norm(self, x: Handle, train: bool) -> tuple[Norm, Handle]:
        alloc = self._alloc
        out = alloc(self._residual, "LayerNorm output (B, T, C) float32", ACTIVATIONS)
        mean = alloc(4 * self._tokens, "LayerNorm mean (B*T) float32", ACTIVATIONS)
        rstd = alloc(4 * self._tokens, "LayerNorm rstd (B*T) float32", ACTIVATIONS)
        if not train:
            self._free(mean, rstd)
        return Norm(x, mean, rstd), out

    def _linear(
        self,
        x: Handle,
        fan_in: int,
        fan_out: int,
        name: str,
        train: bool,
        component: Component = ACTIVATIONS,
        cast: bool = True,
    ) -> tuple[Linear, Handle]:
        """``cast`` tells that the input is float32, so that autocast copies it."""
        alloc, cache = self._alloc, self._copies
        if not self._half:
            out = alloc(4 * self._tokens * fan_out, name, component)
            self._multiply()
            return Linear(None, x), out
        if self._shapes.bias and component is ACTIVATIONS:  # lm_head has none
            cache.append(alloc(2 * fan_out, f"bias {self._shapes.dtype}", COPIES))
        weight = alloc(2 * fan_in * fan_out, f"weight {self._shapes.dtype}", COPIES)
        if cast:
            x = alloc(2 * self._tokens * fan_in, f"input {self._shapes.dtype}", ACTIVATIONS)
        out = alloc(2 * self._tokens * fan_out, name, component)
        self._multiply()
        if not train:
            cache.append(weight)
            if cast:
                self._free(x)
        return Linear(weight, x), out

    def _multiply(self) -> None:
        """The thread's first matrix product takes cuBLAS's workspace, for good."""
        nbytes, self._workspace = self._workspace, 0
        if nbytes:
            self._alloc(nbytes, "cuBLAS workspace", Component.WORKSPACE)

    def _drop(self, x: Handle, item: int, train: bool) -> tuple[Handle | None, Handle]:
        if not (train and self._shapes.dropout):
            return None, x
        count = self._tokens * self._width
        mask = self._alloc(count, "dropout mask (B, T, C) bool", ACTIVATIONS)
        out = self._alloc(item * count, "dropout output (B, T, C)", ACTIVATIONS)
        self._free(x)
        return mask, out
