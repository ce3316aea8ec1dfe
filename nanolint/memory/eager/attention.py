"""What one layer's attention allocates in eager mode, between c_attn and c_proj.

Three kernels: flash, memory-efficient, and nanoGPT's own slow path (Attention.MATH). Shapes:
q, k, v (B, H, T, D); scores (B, H, T, T). Lifetimes were traced with PyTorch 2.13's autograd; the
kernels' own scratch is from aten/src/ATen/native/transformers/cuda (flash: mha_bwd; efficient:
kernel_backward.h).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from nanolint.memory.tape import Component
from nanolint.run.run import Attention

if TYPE_CHECKING:
    from nanolint.memory.program import Shapes
    from nanolint.memory.tape import Handle, Tape

ACTIVATIONS = Component.ACTIVATIONS


class Attended(NamedTuple):
    """A kernel's forward: its output, what it saves for backward, what dies with the frame."""

    out: Handle
    saved: tuple[Handle, ...] = ()
    frame: tuple[Handle, ...] = ()
    saves_out: bool = False  # out is saved by the kernel too, not only by c_proj


class Kernel(Protocol):
    """One way to compute attention."""

    def forward(self, qkv: Handle, train: bool) -> Attended:
        """Allocate the output (B, T, C); eval keeps nothing."""

    def backward(self, gradient: Handle, attended: Attended) -> Handle:
        """Free the output's ``gradient`` and all that was saved; return qkv's gradient."""


def kernel(shapes: Shapes, rec: Tape) -> Kernel:
    """The kernel that runs: flash takes only two-byte types and heads of at most 256."""
    if shapes.attention is Attention.MATH:
        return Manual(shapes, rec)
    if shapes.attention is Attention.FLASH and shapes.half and shapes.head_size <= 256:
        return Flash(shapes, rec)
    return Efficient(shapes, rec)


class _Sizes:
    def __init__(self, shapes: Shapes, rec: Tape) -> None:
        self._alloc, self._free = rec.alloc, rec.free
        self._half = shapes.half
        self._hidden = shapes.itemsize * shapes.tokens * shapes.n_embd
        self._rows = shapes.tokens * shapes.n_head  # B*T*H
        self._dtype = shapes.dtype
        # Transposing heads and tokens leaves a tensor contiguous when either is 1, and (B, H) views
        # as one dimension when either is 1: then reshape() and contiguous() copy nothing.
        self._transposes = shapes.n_head > 1 and shapes.block_size > 1
        self._flattens = shapes.n_head > 1 and shapes.batch_size > 1

    def _take(self, nbytes: int, name: str) -> Handle:
        return self._alloc(nbytes, name, ACTIVATIONS)

    def _contiguous(self, gradient: Handle) -> Handle:
        """(B, H, T, D) to (B, T, C)."""
        if not self._transposes:
            return gradient
        copy = self._take(self._hidden, "gradient of q, k or v (B, T, C)")
        self._free(gradient)
        return copy

    def _concatenate(self, *gradients: Handle) -> Handle:
        together = self._take(3 * self._hidden, f"gradient of q, k, v (B, T, 3C) {self._dtype}")
        self._free(*gradients)
        return together


class Flash(_Sizes):
    """Flash attention, PyTorch's choice for half types from compute capability 8.0 on."""

    def __init__(self, shapes: Shapes, rec: Tape) -> None:
        super().__init__(shapes, rec)
        b, t, h, d = shapes.batch_size, shapes.block_size, shapes.n_head, shapes.head_size
        # scaled_dot_product_attention pads a head that is not a multiple of 8.
        self._padded = 0 if d % 8 == 0 else 2 * b * t * h * _up(d, 8)
        rounded = _up(t, 128)
        self._delta = 4 * b * h * rounded
        self._accumulator = 4 * b * rounded * h * _up(d, 32 if d <= 128 else 64)

    def forward(self, qkv: Handle, train: bool) -> Attended:
        take, free = self._take, self._free
        padded = self._padded
        padding = tuple(take(padded, "padded q, k or v") for _ in range(3)) if padded else ()
        out = take(padded or self._hidden, f"attention output (B, T, C) {self._dtype}")
        lse = take(4 * self._rows, "attention logsumexp (B, H, T) float32")
        random = take(16, "attention random state"), take(8, "attention random state")
        if not train:
            free(lse, *random, *reversed(padding))
        if not padded:
            if train:
                return Attended(out, (qkv, lse, out, *random), (), saves_out=True)
            return Attended(out, (), (qkv,))
        whole = take(self._hidden, f"attention output (B, T, C) {self._dtype}")
        if train:
            return Attended(whole, (*padding, lse, out, *random), (qkv,))
        free(out)
        return Attended(whole, (), (qkv,))

    def backward(self, gradient: Handle, attended: Attended) -> Handle:
        take, free = self._take, self._free
        size = self._padded or self._hidden
        copies: tuple[Handle, ...] = ()
        if self._padded:
            sliced = take(size, "gradient of the padded attention output")
            free(gradient)
            gradient = sliced
            if self._transposes:
                copies = tuple(take(size, "contiguous copy for flash backward") for _ in range(2))
        dq, dk, dv = [take(size, "gradient of q, k or v") for _ in range(3)]
        delta = take(self._delta, "flash backward row sums (B, H, T) float32")
        accumulator = take(self._accumulator, "flash backward dq accumulator (B, T, H, D) float32")
        free(accumulator, delta, *reversed(copies), gradient, *attended.saved)
        if self._padded:
            gradients = []
            for padded in (dv, dk, dq):
                gradients.append(take(self._hidden, "gradient of q, k or v"))
                free(padded)
            dv, dk, dq = gradients
            dv, dq, dk = (self._contiguous(strided) for strided in (dv, dq, dk))
        return self._concatenate(dq, dk, dv)


class Efficient(_Sizes):
    """Memory-efficient attention: float32, or cards below compute capability 8.0."""

    def __init__(self, shapes: Shapes, rec: Tape) -> None:
        super().__init__(shapes, rec)
        b, t, h, d = shapes.batch_size, shapes.block_size, shapes.n_head, shapes.head_size
        self._lse = 4 * b * h * _up(t, 32)
        self._output_accumulator = 4 * b * t * h * d if shapes.half and d > 128 else 0
        side = 128 if shapes.half and d > 64 else 64
        tiles = -(-t // side) * -(-d // side)
        self._workspace = b * h * _up(tiles * (16 + 4 * side * side), 16)

    def forward(self, qkv: Handle, train: bool) -> Attended:
        take = self._take
        out = take(self._hidden, f"attention output (B, T, C) {self._dtype}")
        lse = take(self._lse, "attention logsumexp (B, H, T) float32") if train else None
        if self._output_accumulator:
            self._free(take(self._output_accumulator, "attention output accumulator float32"))
        if lse is None:
            return Attended(out, (), (qkv,))
        return Attended(out, (qkv, lse, out), (), saves_out=True)

    def backward(self, gradient: Handle, attended: Attended) -> Handle:
        take, free = self._take, self._free
        dq, dk, dv = [take(self._hidden, "gradient of q, k or v") for _ in range(3)]
        if self._half:
            delta = take(4 * self._rows, "attention backward row sums (B, H, T) float32")
        else:
            product = take(self._hidden, "gradient times attention output (B, T, C) float32")
            sums = take(4 * self._rows, "attention backward row sums (B, T, H) float32")
            free(product)
            delta = take(4 * self._rows, "attention backward row sums (B, H, T) float32")
            free(sums)
        workspace = take(self._workspace, "attention backward dq workspace")
        free(workspace, delta, gradient, *attended.saved)
        return self._concatenate(dq, dk, dv)


class Manual(_Sizes):
    """nanoGPT's slow path: the scores are tensors. What torch before 2.0 runs."""

    def __init__(self, shapes: Shapes, rec: Tape) -> None:
        super().__init__(shapes, rec)
        self._count = self._rows * shapes.block_size  # elements of the scores, B*H*T*T
        self._scores = shapes.itemsize * self._count
        self._causal = shapes.block_size * shapes.block_size
        self._dropout = shapes.dropout

    def _score(self, nbytes: int, name: str) -> Handle:
        return self._take(nbytes, f"attention {name} (B, H, T, T)")

    def forward(self, qkv: Handle, train: bool) -> Attended:
        take, free, score = self._take, self._free, self._score
        dropout = train and self._dropout
        qkv_copies = self._flat("q", "k")
        scores = score(self._scores, "scores")
        if not train:
            free(*reversed(qkv_copies))
        scaled = score(self._scores, "scaled scores")
        free(scores)
        mask = take(self._causal, "causal mask (T, T) bool")
        masked = score(self._scores, "masked scores")
        if not train:
            free(mask)
        free(scaled)
        if self._dtype == "bfloat16":  # float16's softmax reads two bytes and writes four
            widened = score(4 * self._count, "scores float32")
            weights = score(4 * self._count, "weights float32")
            free(widened)
        else:
            weights = score(4 * self._count, "weights float32")
        free(masked)
        chances = dropped = None
        if dropout:
            chances = score(self._count, "dropout mask")
            dropped = score(4 * self._count, "dropped weights float32")
        narrow = score(self._scores, f"weights {self._dtype}") if self._half else None
        v = self._flat("v")
        product = take(self._hidden, "attention output by heads (B, H, T, D)")
        if not train:
            free(*v)
            if narrow is not None:
                free(narrow)
        out = product
        if self._transposes:
            out = take(self._hidden, f"attention output (B, T, C) {self._dtype}")
            free(product)
        if not train:
            return Attended(out, (), (qkv, weights))
        frame = (dropped,) if dropped is not None and self._half else ()
        # Where q, k, v are views of qkv, that is what autograd saves.
        if self._flattens:
            frame = (qkv, *frame)
            saved_qkv = (*qkv_copies, *v)
        else:
            saved_qkv = (qkv,)
        factor = narrow if narrow is not None else dropped if dropped is not None else weights
        chance = () if chances is None else (chances,)
        return Attended(out, (mask, weights, factor, *chance, *saved_qkv), frame)

    def backward(self, gradient: Handle, attended: Attended) -> Handle:
        take, free, score = self._take, self._free, self._score
        mask, weights, factor, *rest = attended.saved
        chances = rest.pop(0) if self._dropout else None
        q_and_k, v = (rest[:2], rest[2:]) if self._flattens else (rest, [])
        if self._flattens and self._transposes:
            by_heads = take(self._hidden, "gradient of the output by heads (B, H, T, D)")
            free(gradient)
            gradient = by_heads
        dv = take(self._hidden, "gradient of v")
        gradient, of_output = score(self._scores, "gradient of the weights"), gradient
        free(of_output, *v)
        if factor != weights:
            free(factor)
        if self._half:
            gradient = self._replaced(gradient, 4 * self._count, "gradient of the weights float32")
        if chances is not None:
            gradient = self._replaced(gradient, 4 * self._count, "gradient of dropout float32")
            free(chances)
        nbytes = (2 if self._dtype == "float16" else 4) * self._count
        of_softmax = score(nbytes, "gradient of softmax")
        # ATen/native/cuda/SoftMax.cu, softmax_backward_cuda_out: Tensor tmp = grad * output.
        free(score(4 * self._count, "gradient times weights float32"), gradient)
        gradient = of_softmax
        free(weights)
        if self._dtype == "bfloat16":
            gradient = self._replaced(gradient, self._scores, "gradient of softmax bfloat16")
        gradient = self._replaced(gradient, self._scores, "gradient of the mask")
        free(mask)
        gradient = self._replaced(gradient, self._scores, "gradient of the scores")
        dk, dq = take(self._hidden, "gradient of k"), take(self._hidden, "gradient of q")
        free(gradient, *q_and_k)
        dv, dq = self._contiguous(dv), self._contiguous(dq)
        return self._concatenate(dq, dk, dv)

    def _flat(self, *names: str) -> tuple[Handle, ...]:
        """matmul's (B*H, T, D) copies; a single sequence or head needs none."""
        if not self._flattens:
            return ()
        return tuple(self._take(self._hidden, f"contiguous {name}") for name in names)

    def _replaced(self, gradient: Handle, nbytes: int, name: str) -> Handle:
        new = self._score(nbytes, name)
        self._free(gradient)
        return new


def _up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple
