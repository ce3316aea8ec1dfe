"""The backward pass of the compiled GPT's layers: LayerNorm, Linear, attention, the block.

See compiled_backward.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.builder import Builder
from nanolint.memory.compiled.saved import Layer, Norm, Saved
from nanolint.memory.compiled.sums import Sums
from nanolint.memory.tape import Component
from nanolint.memory.tensors.ops.attention_kernels import efficient_workspace_bytes
from nanolint.run.run import Attention

if TYPE_CHECKING:
    from nanolint.memory.compiled.graph import Buffer
    from nanolint.memory.shapes import Shapes

GRADIENTS = Component.GRADIENTS


class Layers(Builder):
    """Adds layers' backward kernels to ``graph``; gathers gradients in ``blocks``, last first."""

    def __init__(self, shapes: Shapes, saved: Saved) -> None:
        super().__init__(shapes)
        self.saved = saved
        self.sums = Sums(shapes, self.graph)
        self.row_sums = 8 * shapes.tokens  # LayerNorm's two sums per row, inside its kernel
        self.blocks: list[list[Buffer]] = []

    def take(self, buffer: Buffer) -> Buffer:
        """A saved tensor, from now on this graph's to free."""
        buffer.kept = False
        self.graph.inputs.append(buffer)
        return buffer

    def norm(
        self, name: str, norm: Norm, above: Buffer | None, flow: Buffer
    ) -> tuple[Buffer, Buffer, list[Buffer]]:
        """LayerNorm's backward, the residual sum's and the dropout's of the term below it.

        ``above`` is the residual stream's gradient so far. Returns it afterwards in float32, in
        the dtype of the products (the same buffer in float32 without dropout), and the gradients
        of weight and bias.
        """
        shapes, graph = self.shapes, self.graph
        hat, deviation = self.take(norm.hat), self.take(norm.deviation)
        mask = (self.take(norm.mask),) if norm.mask else ()
        total = self.single("gradient of the residual stream (B, T, C)", self.btc)
        separate = shapes.half or bool(mask)
        half = (
            self.matrix(f"gradient of the input of {name} (B, T, C)", self.btc)
            if separate
            else total
        )
        before = (above,) if above else ()
        reads = (*before, flow, hat, deviation, *mask)
        if self.sums.fused:
            workspace = self.sums.workspace()
            gradients = self.sums.gradients(name)
            parts = self.sums.later(gradients)
            writes = (total, half) if mask else (total,)
            graph.kernel(
                reads,
                *writes,
                *parts,
                inplace=(before,),
                workspace=workspace,
                direct=tuple(gradients),
                passing=self.sums.passing(gradients),
                hidden=self.row_sums,
            )
            self.sums.finish(parts, gradients)
            if separate and not mask:
                graph.kernel((total,), half)
            return total, half, gradients
        writes = (total, half) if separate else (total,)
        graph.kernel(reads, *writes, inplace=((*before, hat),), hidden=self.row_sums)
        return total, half, self.sums.norm(name, (flow, hat))

    def _linear(
        self,
        name: str,
        flow: Buffer,
        saved_input: Buffer,
        weight: Buffer | None,
        shape: tuple[int, int],
        *,
        release: bool = True,
    ) -> tuple[Buffer, Buffer]:
        """A Linear's matrix products: the gradients of its input and of its weight.

        ``shape`` is (inputs, outputs). In half precision the weight's is cast after the products.
        """
        shapes, graph = self.shapes, self.graph
        columns, rows = shape
        below = self.matrix(f"gradient of the input of {name}", shapes.tokens * columns)
        product = self.matrix(f"gradient of {name}.weight", columns * rows, GRADIENTS)
        weights = (self.take(weight),) if weight else ()
        kept = (self.take(saved_input),) if release else (saved_input,)
        input_reads = (flow, *weights)
        if shapes.bias:
            graph.product(input_reads, below)
            graph.product((flow, *kept), product)
        else:
            graph.product((flow, *kept), product)
            graph.product(input_reads, below)
        return below, product

    def _cast(self, name: str, product: Buffer) -> Buffer:
        if not self.shapes.half:
            return product
        gradient = self.single(f"gradient of {name}.weight", product.nbytes // 2, GRADIENTS)
        self.graph.kernel((product,), gradient)
        return gradient

    def _parameters(self, name: str, flow: Buffer, product: Buffer, columns: int) -> list[Buffer]:
        """Finish a Linear's parameter gradients: sum the bias, cast the weight."""
        if not self.shapes.bias:
            return [self._cast(name, product)]
        bias = self.sums.bias(name, flow, columns)
        return [self._cast(name, product), bias]

    def block(self, layer: Layer, above: Buffer, half: Buffer) -> tuple[Buffer, Buffer]:
        shapes, graph = self.shapes, self.graph
        c = shapes.n_embd
        flow, product = self._linear("h.mlp.c_proj", half, layer.gelu, layer.mlp_proj, (4 * c, c))
        down = self._parameters("h.mlp.c_proj", half, product, c)
        fc = self.take(layer.fc)
        inner = self.matrix(
            "gradient of the output of h.mlp.c_fc (B, T, 4C)", flow.nbytes // shapes.itemsize
        )
        graph.kernel((flow, fc), inner, inplace=((flow, fc),))
        flow, product = self._linear("h.mlp.c_fc", inner, layer.ln_2_out, layer.c_fc, (c, 4 * c))
        up = self._parameters("h.mlp.c_fc", inner, product, 4 * c)
        above, half, ln_2 = self.norm("h.ln_2", layer.ln_2, above, flow)
        attention = layer.attention
        flow, product = self._linear(
            "h.attn.c_proj", half, attention[0], layer.attn_proj, (c, c), release=False
        )
        proj = self._parameters("h.attn.c_proj", half, product, c)
        joined = self._attention(layer, flow)
        flow, product = self._linear(
            "h.attn.c_attn", joined, layer.ln_1_out, layer.c_attn, (c, 3 * c)
        )
        attn = self._parameters("h.attn.c_attn", joined, product, 3 * c)
        if layer is self.saved.layers[0]:
            self.blocks.append([*attn, *proj, *ln_2, *up, *down])
            return above, flow
        assert isinstance(layer.ln_1, Norm)
        above, half, ln_1 = self.norm("h.ln_1", layer.ln_1, above, flow)
        self.blocks.append([*ln_1, *attn, *proj, *ln_2, *up, *down])
        return above, half

    def _efficient_scratch(self, rows: int) -> tuple[Buffer, ...]:
        """What memory-efficient attention's backward makes and frees, in order.

        In float32 the sums come from a product that is a tensor, and are transposed.
        """
        shapes = self.shapes
        heads, half = shapes.batch_size * shapes.n_head, shapes.half
        tiles = efficient_workspace_bytes(
            heads,
            shapes.block_size,
            shapes.head_size,
            half=half,
            small=shapes.small_shared_memory,
            dropout=shapes.dropout,
        )
        delta = self.single("efficient attention delta", rows)
        work = self.single("efficient attention dq", tiles // 4)
        if half:
            return delta, work, work, delta
        product = self.single("gradient times attention output", self.btc)
        sums = self.single("efficient attention row sums", rows)
        return product, sums, product, delta, sums, work, work, delta

    def _attention(self, layer: Layer, flow: Buffer) -> Buffer:
        """The attention kernel's backward, and its three gradients joined to (B, T, 3C)."""
        shapes, graph = self.shapes, self.graph
        parts = tuple(self.matrix(f"gradient of {name} (B, T, C)", self.btc) for name in "qkv")
        rows = shapes.batch_size * shapes.n_head
        scratch: tuple[Buffer, ...]
        if shapes.attention is Attention.FLASH:
            length = -(-shapes.block_size // 128) * 128
            width = -(-shapes.head_size // 32) * 32
            scratch = (
                self.single("flash attention softmax_d", rows * length),
                self.single("flash attention dq_accum", rows * length * width),
            ) * 2
        else:
            scratch = self._efficient_scratch(rows * shapes.block_size)
        qkv = self.take(layer.qkv)
        attention = [self.take(buffer) for buffer in layer.attention]
        graph.call((flow, qkv, *attention), parts, scratch)
        joined = self.matrix("gradient of the output of h.attn.c_attn (B, T, 3C)", 3 * self.btc)
        graph.kernel(parts, joined)
        return joined
