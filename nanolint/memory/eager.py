"""One call of nanoGPT's model in eager mode, tensor by tensor.

Autocast's rules decide the types: matrix products are half, LayerNorm and the residual stream
float32, cross_entropy's log_softmax half and its nll_loss float32. Lifetimes are autograd's and
Python's, traced with PyTorch 2.13 and equal to its events one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.memory.attention import Attended, kernel
from nanolint.memory.constants import (
    EMBEDDING_SCAN_BYTES,
    EMBEDDING_SORT_BYTES,
    EMBEDDING_SORT_TOKENS,
    LAYER_NORM_PARTIAL_TOKENS,
)
from nanolint.memory.program import Outputs
from nanolint.memory.stream import Component

if TYPE_CHECKING:
    from nanolint.memory.program import Inputs, Shapes
    from nanolint.memory.stream import Handle, Recorder

ACTIVATIONS = Component.ACTIVATIONS
COPIES = Component.WEIGHT_COPIES
GRADIENTS = Component.GRADIENTS
LOSS = Component.LOGITS_AND_LOSS
INPUTS = Component.INPUTS


class _Norm(NamedTuple):
    """What a LayerNorm saves: its input (B, T, C), mean and reciprocal deviation (B*T)."""

    x: Handle
    mean: Handle
    rstd: Handle


class _Linear(NamedTuple):
    """What a Linear saves: its half weight (None in float32) and its input."""

    weight: Handle | None
    x: Handle


class _Block(NamedTuple):
    """What one Block saves; the masks are None without dropout."""

    ln_1: _Norm
    c_attn: _Linear
    attended: Attended
    attn_proj: _Linear
    attn_mask: Handle | None
    ln_2: _Norm
    c_fc: _Linear
    activated: Handle  # c_fc's output, GELU's input (B, T, 4C)
    mlp_proj: _Linear
    mlp_mask: Handle | None


class _Tail(NamedTuple):
    """What surrounds the blocks: embeddings, ln_f, lm_head, cross_entropy."""

    inputs: Inputs
    positions: Handle
    mask: Handle | None
    ln_f: _Norm
    head: _Linear
    log_softmax: Handle
    log_probabilities: Handle | None
    total_weight: Handle


class Eager:
    """See ``nanolint.memory.program.Program``."""

    def __init__(self, shapes: Shapes, rec: Recorder) -> None:
        self._shapes = shapes
        self._alloc, self._free = rec.alloc, rec.free
        self._kernel = kernel(shapes, rec)
        self._half = shapes.half
        self._width = shapes.n_embd
        self._tokens = shapes.tokens
        self._item = shapes.itemsize
        self._residual = 4 * shapes.tokens * shapes.n_embd
        self._hidden = shapes.itemsize * shapes.tokens * shapes.n_embd
        self._blocks: list[_Block] = []
        self._tail: _Tail | None = None
        self._copies: list[Handle] = []  # autocast's cache: half biases, in eval half weights too
        self._gradients: list[Handle] = []
        self._accumulates = False
        self._idle_threads = {"main", "autograd"} if shapes.workspace_bytes else set[str]()

    def evaluate(self, inputs: Inputs, previous: Outputs | None) -> Outputs:
        return self._call(inputs, previous, train=False)

    def forward(self, inputs: Inputs, previous: Outputs | None) -> Outputs:
        return self._call(inputs, previous, train=True)

    # ---------------------------------------------------------------- forward

    def _call(self, inputs: Inputs, previous: Outputs | None, *, train: bool) -> Outputs:
        alloc, free, shapes = self._alloc, self._free, self._shapes
        c, t = shapes.n_embd, shapes.block_size
        positions = alloc(8 * t, "positions (T) int64", ACTIVATIONS)
        tokens = alloc(self._residual, "token embeddings (B, T, C) float32", ACTIVATIONS)
        places = alloc(4 * t * c, "position embeddings (T, C) float32", ACTIVATIONS)
        x = alloc(self._residual, "embeddings (B, T, C) float32", ACTIVATIONS)
        mask, x = self._drop(x, 4, train)
        self._copies = []
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
            self._tail = _Tail(inputs, positions, mask, ln_f, head, log_softmax, widened, weight)
            divided = alloc(4, "loss", LOSS)
            free(loss)
            loss = divided
        free(*self._copies)
        return Outputs(logits, loss)

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
            self._blocks.append(_Block(*attention, ln_2, c_fc, wide, mlp_proj, mlp_mask))
        else:
            free(middle, x)
        return out

    def _norm(self, x: Handle, train: bool) -> tuple[_Norm, Handle]:
        alloc = self._alloc
        out = alloc(self._residual, "LayerNorm output (B, T, C) float32", ACTIVATIONS)
        mean = alloc(4 * self._tokens, "LayerNorm mean (B*T) float32", ACTIVATIONS)
        rstd = alloc(4 * self._tokens, "LayerNorm rstd (B*T) float32", ACTIVATIONS)
        if not train:
            self._free(mean, rstd)
        return _Norm(x, mean, rstd), out

    def _linear(
        self,
        x: Handle,
        fan_in: int,
        fan_out: int,
        name: str,
        train: bool,
        component: Component = ACTIVATIONS,
        cast: bool = True,
    ) -> tuple[_Linear, Handle]:
        """``cast`` tells that the input is float32, so that autocast copies it."""
        alloc, cache = self._alloc, self._copies
        if not self._half:
            out = alloc(4 * self._tokens * fan_out, name, component)
            self._multiply("main")
            return _Linear(None, x), out
        if self._shapes.bias and component is ACTIVATIONS:  # lm_head has none
            cache.append(alloc(2 * fan_out, f"bias {self._shapes.dtype}", COPIES))
        weight = alloc(2 * fan_in * fan_out, f"weight {self._shapes.dtype}", COPIES)
        if cast:
            x = alloc(2 * self._tokens * fan_in, f"input {self._shapes.dtype}", ACTIVATIONS)
        out = alloc(2 * self._tokens * fan_out, name, component)
        self._multiply("main")
        if not train:
            cache.append(weight)
            if cast:
                self._free(x)
        return _Linear(weight, x), out

    def _multiply(self, thread: str) -> None:
        """A thread's first matrix product takes cuBLAS's workspace, for good."""
        if thread in self._idle_threads:
            self._idle_threads.remove(thread)
            nbytes = self._shapes.workspace_bytes
            self._alloc(nbytes, "cuBLAS workspace", Component.WORKSPACE)

    def _drop(self, x: Handle, item: int, train: bool) -> tuple[Handle | None, Handle]:
        if not (train and self._shapes.dropout):
            return None, x
        count = self._tokens * self._width
        mask = self._alloc(count, "dropout mask (B, T, C) bool", ACTIVATIONS)
        out = self._alloc(item * count, "dropout output (B, T, C)", ACTIVATIONS)
        self._free(x)
        return mask, out

    # --------------------------------------------------------------- backward

    def backward(self, gradients: list[Handle] | None) -> list[Handle]:
        alloc, free, shapes = self._alloc, self._free, self._shapes
        tail = self._tail
        assert tail is not None, "backward without a forward"
        self._tail = None
        self._accumulates = gradients is not None
        per_block = len(shapes.block_parameters)
        step = 2 if shapes.bias else 1  # parameters per Linear or LayerNorm
        ln_f = 2 + per_block * shapes.n_layer
        self._gradients = gradients or [0] * (ln_f + step)

        scaled = alloc(4, "gradient of the loss", LOSS) if shapes.dtype == "float16" else None
        divided = alloc(4, "gradient of the loss", LOSS)
        if scaled is not None:
            free(scaled)
        residual, head = self._head_backward(tail, divided)
        residual = self._norm_backward(ln_f, tail.ln_f, residual)
        blocks = self._blocks
        for index in reversed(range(shapes.n_layer)):
            self._block_backward(2 + per_block * index, step, blocks.pop(), residual)
        self._embedding_backward(tail, residual, head)
        return self._gradients

    def _head_backward(self, tail: _Tail, loss: Handle) -> tuple[Handle, Handle]:
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
        self._multiply("autograd")
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

    def _block_backward(self, index: int, step: int, block: _Block, residual: Handle) -> None:
        """Both branches; their gradients are added into ``residual`` in place."""
        alloc, free, c = self._alloc, self._free, self._width
        branch = self._branch(residual, block.mlp_mask)
        dx = self._linear_backward(index + 5 * step, block.mlp_proj, 4 * c, c, branch, residual)
        activated = alloc(4 * self._hidden, "gradient of GELU's input (B, T, 4C)", ACTIVATIONS)
        free(dx, block.activated)
        dx = self._linear_backward(index + 4 * step, block.c_fc, c, 4 * c, activated, cast=True)
        free(self._norm_backward(index + 3 * step, block.ln_2, dx))

        branch = self._branch(residual, block.attn_mask)
        dx = self._linear_backward(
            index + 2 * step,
            block.attn_proj,
            c,
            c,
            branch,
            residual,
            keeps_input=block.attended.saves_out,
        )
        dx = self._kernel.backward(dx, block.attended)
        dx = self._linear_backward(index + step, block.c_attn, c, 3 * c, dx, cast=True)
        free(self._norm_backward(index, block.ln_1, dx))

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

    def _linear_backward(
        self,
        index: int,
        saved: _Linear,
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

    def _norm_backward(self, index: int, saved: _Norm, gradient: Handle) -> Handle:
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

    def _embedding_backward(self, tail: _Tail, residual: Handle, head: Handle) -> None:
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
