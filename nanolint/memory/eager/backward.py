"""The backward pass of nanoGPT's model in eager mode, tensor by tensor: see eager_forward.py.

Gradients of the residual stream are float32 and added in place. lm_head's and wte's weight are one
parameter: lm_head's gradient waits in autograd's buffer through the whole pass for wte's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.constants import (
    EMBEDDING_SCAN_BYTES,
    EMBEDDING_SORT_BYTES,
    EMBEDDING_SORT_TOKENS,
    LAYER_NORM_PARTIAL_TOKENS,
)
from nanolint.memory.tape import Component

if TYPE_CHECKING:
    from nanolint.memory.eager.attention import Kernel
    from nanolint.memory.eager.forward import Block, Linear, Norm, Saved, Tail
    from nanolint.memory.program import Shapes
    from nanolint.memory.tape import Handle, Tape

ACTIVATIONS = Component.ACTIVATIONS
GRADIENTS = Component.GRADIENTS
LOSS = Component.LOGITS_AND_LOSS


class Backward:
    """The model's backward pass."""

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
        self._gradients: list[Handle] = []
        self._accumulates = False

    def run(self, saved: Saved, gradients: list[Handle] | None) -> list[Handle]:
        """Free what ``saved`` names; see ``Program.backward``."""
        alloc, free, shapes = self._alloc, self._free, self._shapes
        self._accumulates = gradients is not None
        per_block = len(shapes.block_parameters)
        step = 2 if shapes.bias else 1  # parameters per Linear or LayerNorm
        ln_f = 2 + per_block * shapes.n_layer
        self._gradients = gradients or [0] * (ln_f + step)

        scaled = alloc(4, "gradient of the loss", LOSS) if shapes.dtype == "float16" else None
        divided = alloc(4, "gradient of the loss", LOSS)
        if scaled is not None:
            free(scaled)
        residual, head = self._head(saved.tail, divided)
        residual = self._norm(ln_f, saved.tail.ln_f, residual)
        for index in reversed(range(shapes.n_layer)):
            self._block(2 + per_block * index, step, saved.blocks[index], residual)
        self._embeddings(saved.tail, residual, head)
        return self._gradients

    def _head(self, tail: Tail, loss: Handle) -> tuple[Handle, Handle]:
        """cross_entropy and lm_head; returns ln_f's output gradient and lm_head's weight's."""
        alloc, free, shapes = self._alloc, self._free, self._shapes
        v, c, dtype = shapes.vocab_size, shapes.n_embd, shapes.dtype
        wide = 4 * shapes.tokens * v
        gradient = alloc(wide, "gradient of the log-probabilities (B*T, V) float32", LOSS)
        free(loss)
        if tail.log_probabilities is not None:
            free(tail.log_probabilities)
        free(tail.inputs.y, tail.total_weight)
        if self._half:
            narrow = alloc(shapes.logits_bytes, f"gradient of log_softmax (B*T, V) {dtype}", LOSS)
            free(gradient)
            gradient = narrow
        logits = alloc(shapes.logits_bytes, f"gradient of the logits (B*T, V) {dtype}", LOSS)
        free(gradient, tail.log_softmax)
        weight = alloc(self._item * v * c, f"gradient of lm_head (V, C) {dtype}", GRADIENTS)
        nbytes, self._workspace = self._workspace, 0
        if nbytes:  # autograd's thread takes cuBLAS's workspace with its first product
            alloc(nbytes, "cuBLAS workspace", Component.WORKSPACE)
        residual = alloc(self._hidden, f"gradient of ln_f's output (B, T, C) {dtype}", ACTIVATIONS)
        free(logits)
        if tail.head.weight is not None:
            free(tail.head.weight)
        free(tail.head.x)
        if self._half:
            wide_residual = alloc(
                self._residual, "gradient of ln_f's output (B, T, C) float32", ACTIVATIONS
            )
            free(residual)
            residual = wide_residual
            wide_weight = alloc(4 * v * c, "gradient of lm_head (V, C) float32", GRADIENTS)
            free(weight)
            weight = wide_weight
        return residual, weight

    def _block(self, index: int, step: int, block: Block, residual: Handle) -> None:
        """Both branches; their gradients are added into ``residual`` in place."""
        alloc, free, c = self._alloc, self._free, self._width
        branch = self._branch(residual, block.mlp_mask)
        dx = self._linear(index + 5 * step, block.mlp_proj, 4 * c, c, branch, residual)
        activated = alloc(4 * self._hidden, "gradient of GELU's input (B, T, 4C)", ACTIVATIONS)
        free(dx, block.activated)
        dx = self._linear(index + 4 * step, block.c_fc, c, 4 * c, activated, cast=True)
        free(self._norm(index + 3 * step, block.ln_2, dx))

        branch = self._branch(residual, block.attn_mask)
        dx = self._linear(
            index + 2 * step,
            block.attn_proj,
            c,
            c,
            branch,
            residual,
            keeps_input=block.attended.saves_out,
        )
        dx = self._kernel.backward(dx, block.attended)
        dx = self._linear(index + step, block.c_attn, c, 3 * c, dx, cast=True)
        free(self._norm(index, block.ln_1, dx))

    def _branch(self, residual: Handle, mask: Handle | None) -> Handle:
        """The branch's own gradient; float32 without dropout shares the residual's."""
        gradient = residual
        if self._half:
            gradient = self._alloc(self._hidden, "gradient of a branch (B, T, C)", ACTIVATIONS)
        if mask is None:
            return gradient
        dropped = self._alloc(self._hidden, "gradient of dropout (B, T, C)", ACTIVATIONS)
        if gradient != residual:
            self._free(gradient)
        self._free(mask)
        return dropped

    def _linear(
        self,
        index: int,
        saved: Linear,
        fan_in: int,
        fan_out: int,
        gradient: Handle,
        residual: Handle | None = None,
        *,
        cast: bool = False,
        keeps_input: bool = False,
    ) -> Handle:
        """Free ``gradient`` (unless it shares ``residual``) and what was saved; returns dX."""
        alloc, free, item = self._alloc, self._free, self._item
        x_bytes, w_bytes = item * self._tokens * fan_in, item * fan_in * fan_out
        x_name, w_name = "gradient of a Linear's input", "gradient of a weight"
        bias = None
        if self._shapes.bias:  # addmm's backward: dX first
            dx = alloc(x_bytes, x_name, ACTIVATIONS)
            weight = alloc(w_bytes, w_name, GRADIENTS)
            bias = alloc(item * fan_out, "gradient of a bias", GRADIENTS)
        else:
            weight = alloc(w_bytes, w_name, GRADIENTS)
            dx = alloc(x_bytes, x_name, ACTIVATIONS)
        if gradient != residual:
            free(gradient)
        if not keeps_input:
            free(saved.x)
        if saved.weight is not None:
            free(saved.weight)
        if not self._half:
            self._keep(index, weight)
            if bias is not None:
                self._keep(index + 1, bias)
            return dx
        if cast:
            wide = alloc(2 * x_bytes, f"{x_name} float32", ACTIVATIONS)
            free(dx)
            dx = wide
        wide = alloc(2 * w_bytes, f"{w_name} float32", GRADIENTS)
        free(weight)
        self._keep(index, wide)
        if bias is not None:
            wide = alloc(4 * fan_out, "gradient of a bias float32", GRADIENTS)
            free(bias)
            self._keep(index + 1, wide)
        return dx

    def _norm(self, index: int, saved: Norm, gradient: Handle) -> Handle:
        """Free ``gradient`` and what was saved; returns dX."""
        alloc, free, shapes = self._alloc, self._free, self._shapes
        c, tokens = shapes.n_embd, shapes.tokens
        dx = alloc(self._residual, "gradient of LayerNorm's input (B, T, C) float32", ACTIVATIONS)
        names = ("LayerNorm weight", "LayerNorm bias")[: 1 + shapes.bias]
        kept = [alloc(4 * c, f"gradient of a {name}", GRADIENTS) for name in names]
        if tokens > LAYER_NORM_PARTIAL_TOKENS and c // 32 < shapes.sm_count // 2:
            nbytes = tokens // 32 * c * 4
            partial = [alloc(nbytes, "LayerNorm partial sums", GRADIENTS) for _ in kept]
            free(*reversed(partial))
        free(gradient, *saved)
        for offset, handle in enumerate(kept):
            self._keep(index + offset, handle)
        return dx

    def _embeddings(self, tail: Tail, residual: Handle, head: Handle) -> None:
        """wpe and wte; lm_head's gradient has waited for wte's, because they are one parameter."""
        alloc, free, shapes = self._alloc, self._free, self._shapes
        c, t, v = shapes.n_embd, shapes.block_size, shapes.vocab_size
        if tail.mask is not None:
            dropped = alloc(self._residual, "gradient of dropout (B, T, C)", ACTIVATIONS)
            free(residual, tail.mask)
            residual = dropped
        summed = alloc(4 * t * c, "gradient of the positions (1, T, C) float32", GRADIENTS)
        places = self._scatter(t, t)
        free(summed, tail.positions)
        self._keep(1, places)
        gradient = self._scatter(v, shapes.tokens)
        free(residual, tail.inputs.x)
        if self._half:
            free(gradient)  # added into lm_head's in place
        else:
            parts = gradient, head
            head = alloc(4 * v * c, "sum of wte's two gradients (V, C) float32", GRADIENTS)
            free(*parts)
        self._keep(0, head)

    def _scatter(self, rows: int, indices: int) -> Handle:
        """embedding_dense_backward: a (rows, C) gradient; many indices are sorted first."""
        alloc, free, c = self._alloc, self._free, self._width
        name = "gradient of an embedding (rows, C) float32"
        if indices <= EMBEDDING_SORT_TOKENS:
            return alloc(4 * rows * c, name, GRADIENTS)

        def scratch(nbytes: int) -> Handle:
            return alloc(nbytes, "embedding backward scratch", GRADIENTS)

        ids = 8 * indices
        order = [scratch(ids), scratch(ids)]
        counter = scratch(ids)
        free(scratch(2 * ids + EMBEDDING_SORT_BYTES), counter)
        gradient = alloc(4 * rows * c, name, GRADIENTS)
        segments = min(indices, rows)
        partial = indices // 10 + segments
        order += [scratch(ids), scratch(8)]
        free(scratch(EMBEDDING_SCAN_BYTES))
        order += [scratch(8 * segments), scratch(8 * segments)]
        free(scratch(EMBEDDING_SCAN_BYTES))
        order += [scratch(8), scratch(8 * partial), scratch(4 * partial * c)]
        free(*reversed(order))
        return gradient

    def _keep(self, index: int, gradient: Handle) -> None:
        """AccumulateGrad: the first one stays as .grad, later ones are added to it."""
        if self._accumulates:
            self._free(gradient)
        else:
            self._gradients[index] = gradient
