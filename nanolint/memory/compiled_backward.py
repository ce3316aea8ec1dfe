"""The backward graph of the compiled GPT, from the loss to the gradients.

Traced from Inductor's generated code (torch 2.13.0, default mode), as compiled_forward.py. Weight
gradients come out of the matrix products in half precision and are cast one by one; all of them
leave the graph together, at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled_builder import Builder
from nanolint.memory.compiled_graph import FLOAT, Buffer, padded_elements
from nanolint.memory.compiled_saved import Embedding, Layer, Norm, Saved
from nanolint.memory.compiled_sums import Sums
from nanolint.memory.stream import Component
from nanolint.run.model import Attention

if TYPE_CHECKING:
    from nanolint.memory.program import Shapes

ACTIVATIONS = Component.ACTIVATIONS
GRADIENTS = Component.GRADIENTS
LOSS = Component.LOGITS_AND_LOSS


class Backward(Builder):
    """Builds the backward graph. Afterwards: ``graph`` and ``gradients``, in parameter order.

    ``tangent`` and ``scale`` are the slots of the gradients of the logits and of the loss.
    """

    def __init__(self, shapes: Shapes, saved: Saved, tangent: int, scale: int) -> None:
        super().__init__(shapes)
        self._saved = saved
        self._sums = Sums(shapes, self.graph)
        self._row_sums = 8 * shapes.tokens  # LayerNorm's two sums per row, inside its kernel
        # Gradients by layer, in reverse; flattened at the end.
        self._blocks: list[list[Buffer]] = []
        self._tangents = (
            self._argument("zeros for the logits", shapes.logits_bytes, LOSS, tangent),
            self._argument("gradient of the loss", 4, LOSS, scale),
        )
        self.gradients: list[Buffer] = []
        self._build()

    def _argument(self, name: str, nbytes: int, component: Component, slot: int) -> Buffer:
        argument = Buffer(name, nbytes, FLOAT, component)
        argument.slot = slot
        self.graph.arguments.append(argument)
        return argument

    def _input(self, buffer: Buffer) -> Buffer:
        """A saved tensor, from now on this graph's to free."""
        buffer.kept = False
        self.graph.inputs.append(buffer)
        return buffer

    def _build(self) -> None:
        saved = self._saved
        for batch in (saved.x, saved.y):
            batch.kept = False
            self.graph.arguments.append(batch)
        logits, head_gradient, flow = self._head()
        flow, half, ln_f = self._norm("ln_f", saved.ln_f, None, flow)
        for layer in reversed(saved.layers):
            flow, half = self._block(layer, flow, half)
        self._embed(flow, half, logits, head_gradient)
        wte, wpe = self.gradients
        blocks = [buffer for block in reversed(self._blocks) for buffer in block]
        self.gradients = [wte, wpe, *blocks, *ln_f]
        for gradient in self.gradients:
            gradient.kept = True

    def _head(self) -> tuple[Buffer, Buffer | None, Buffer]:
        """Cross-entropy and lm_head: the gradients of the logits, of wte (half), of ln_f's output.

        In float32 wte's product waits for the embedding's gradient, and the logits' with it.
        """
        saved, shapes, graph = self._saved, self.shapes, self.graph
        batch, columns = shapes.batch_size, shapes.vocab_size
        numel = padded_elements(batch, shapes.block_size, columns, shapes.itemsize)
        gradient = self.matrix("gradient of the logits", numel, LOSS)
        logits = Buffer("logits", shapes.logits_bytes, self.dtype, LOSS)  # the caller's
        self.graph.inputs.append(logits)
        statistics = [self._input(buffer) for buffer in saved.statistics]
        # A sum per row stays inside the kernel and so, before the cast to half, does the gradient.
        hidden = 4 * shapes.tokens + (shapes.logits_bytes if shapes.half else 0)
        graph.kernel((saved.y, logits, *statistics, *self._tangents), gradient, hidden=hidden)
        out = self._input(saved.ln_f_out)
        flow = self.matrix("gradient of ln_f", self.btc)
        if saved.head is None:
            graph.kernel((gradient,), flow)
            return gradient, None, flow
        weight = self.matrix("lm_head.weight gradient", columns * shapes.n_embd, GRADIENTS)
        graph.kernel((gradient, out), weight)
        graph.kernel((gradient, self._input(saved.head)), flow)
        return gradient, weight, flow

    def _norm(
        self, name: str, norm: Norm, above: Buffer | None, flow: Buffer
    ) -> tuple[Buffer, Buffer, list[Buffer]]:
        """LayerNorm's backward, the residual sum's and the dropout's of the term below it.

        ``above`` is the residual stream's gradient so far. Returns it afterwards in float32, in
        the dtype of the products (the same buffer in float32 without dropout), and the gradients
        of weight and bias.
        """
        shapes, graph = self.shapes, self.graph
        hat, deviation = self._input(norm.hat), self._input(norm.deviation)
        mask = (self._input(norm.mask),) if norm.mask else ()
        total = self.single("gradient of the residual stream", self.btc)
        separate = shapes.half or bool(mask)
        half = self.matrix(f"gradient of {name}", self.btc) if separate else total
        before = (above,) if above else ()
        reads = (*before, flow, hat, deviation, *mask)
        if self._sums.fused:
            workspace = self._sums.workspace()
            gradients = self._sums.gradients(name)
            parts = self._sums.later(gradients)
            writes = (total, half) if mask else (total,)
            graph.kernel(
                reads,
                *writes,
                *parts,
                inplace=(before,),
                workspace=workspace,
                direct=tuple(gradients),
                hidden=self._row_sums,
            )
            self._sums.finish(parts, gradients)
            if separate and not mask:
                graph.kernel((total,), half)
            return total, half, gradients
        writes = (total, half) if separate else (total,)
        graph.kernel(reads, *writes, inplace=((*before, hat),), hidden=self._row_sums)
        return total, half, self._sums.norm(name, (flow, hat))

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
        below = self.matrix(f"gradient of {name}'s input", shapes.tokens * columns)
        product = self.matrix(f"{name}.weight gradient", columns * rows, GRADIENTS)
        weights = (self._input(weight),) if weight else ()
        kept = (self._input(saved_input),) if release else (saved_input,)
        input_reads = (flow, *weights)
        if shapes.bias:
            graph.kernel(input_reads, below)
            graph.kernel((flow, *kept), product)
        else:
            graph.kernel((flow, *kept), product)
            graph.kernel(input_reads, below)
        return below, product

    def _cast(self, product: Buffer) -> Buffer:
        if not self.shapes.half:
            return product
        gradient = self.single(product.name, product.nbytes // 2, GRADIENTS)
        self.graph.kernel((product,), gradient)
        return gradient

    def _parameters(self, name: str, flow: Buffer, product: Buffer, columns: int) -> list[Buffer]:
        """Finish a Linear's parameter gradients: sum the bias, cast the weight."""
        if not self.shapes.bias:
            return [self._cast(product)]
        bias = self._sums.bias(name, flow, columns)
        return [self._cast(product), bias]

    def _block(self, layer: Layer, above: Buffer, half: Buffer) -> tuple[Buffer, Buffer]:
        shapes, graph = self.shapes, self.graph
        c = shapes.n_embd
        flow, product = self._linear("h.mlp.c_proj", half, layer.gelu, layer.mlp_proj, (4 * c, c))
        down = self._parameters("h.mlp.c_proj", half, product, c)
        fc = self._input(layer.fc)
        inner = self.matrix("gradient of h.mlp.c_fc", flow.nbytes // shapes.itemsize)
        graph.kernel((flow, fc), inner, inplace=((flow, fc),))
        flow, product = self._linear("h.mlp.c_fc", inner, layer.ln_2_out, layer.c_fc, (c, 4 * c))
        up = self._parameters("h.mlp.c_fc", inner, product, 4 * c)
        above, half, ln_2 = self._norm("h.ln_2", layer.ln_2, above, flow)
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
        if layer is self._saved.layers[0]:
            self._blocks.append([*attn, *proj, *ln_2, *up, *down])
            return above, flow
        assert isinstance(layer.ln_1, Norm)
        above, half, ln_1 = self._norm("h.ln_1", layer.ln_1, above, flow)
        self._blocks.append([*ln_1, *attn, *proj, *ln_2, *up, *down])
        return above, half

    def _attention(self, layer: Layer, flow: Buffer) -> Buffer:
        """The attention kernel's backward, and its three gradients joined to (B, T, 3C)."""
        shapes, graph = self.shapes, self.graph
        parts = tuple(self.matrix(f"gradient of {name}", self.btc) for name in "qkv")
        rows = shapes.batch_size * shapes.n_head
        scratch: tuple[Buffer, ...]
        if shapes.attention is Attention.FLASH:
            length = -(-shapes.block_size // 128) * 128
            width = -(-shapes.head_size // 32) * 32
            scratch = (
                self.single("flash attention softmax_d", rows * length),
                self.single("flash attention dq_accum", rows * length * width),
            )
        else:
            scratch = (self.single("efficient attention delta", rows * shapes.block_size),)
            if shapes.half:
                scratch += (self.single("efficient attention dq", self.btc),)
        qkv = self._input(layer.qkv)
        attention = [self._input(buffer) for buffer in layer.attention]
        graph.call((flow, qkv, *attention), parts, scratch)
        joined = self.matrix("gradient of h.attn.c_attn", 3 * self.btc)
        graph.kernel(parts, joined)
        return joined

    def _embed(
        self, above: Buffer, flow: Buffer, logits: Buffer, head_gradient: Buffer | None
    ) -> None:
        """The first LayerNorm and the embeddings; wte's two gradients are added last."""
        saved, shapes, graph = self._saved, self.shapes, self.graph
        positions = self._input(saved.positions)
        wte = self.single("wte.weight gradient", shapes.vocab_size * shapes.n_embd, GRADIENTS)
        wpe = self.single("wpe.weight gradient", shapes.block_size * shapes.n_embd, GRADIENTS)
        tokens = self.single("wte.weight gradient", wte.nbytes // 4, GRADIENTS)
        ln_1 = self._first_norm(above, flow, tokens, wpe, positions)
        self._blocks[-1] = [*ln_1, *self._blocks[-1]]
        reads = (tokens, head_gradient) if head_gradient else (tokens, logits, saved.ln_f_out)
        graph.kernel(reads, wte)
        self.gradients = [wte, wpe]

    def _first_norm(
        self, above: Buffer, flow: Buffer, tokens: Buffer, wpe: Buffer, positions: Buffer
    ) -> list[Buffer]:
        saved, graph, shapes = self._saved, self.graph, self.shapes
        total = self.single("gradient of the embeddings", self.btc)
        first = saved.layers[0].ln_1
        gathered = isinstance(first, Embedding)
        kept = tuple(self._input(buffer) for buffer in first[:-1])
        mask = (self._input(first.mask),) if first.mask else ()
        if gathered and not mask:  # the estimate counts the position embeddings once per sequence
            repeats = self.single("wpe", (shapes.batch_size - 1) * wpe.nbytes // 4)
            graph.inputs.append(repeats)
            kept += (repeats,)
        if not self._sums.fused:
            summed = kept if gathered else kept[:1]
            if shapes.batch_size == 1:
                graph.kernel((), wpe)
                graph.kernel((), tokens)
                reads = (above, flow, *kept, *mask, saved.x, positions)
                graph.kernel(
                    reads,
                    total,
                    inplace=((above,),),
                    mutates=(wpe, tokens),
                    hidden=self._row_sums,
                )
                return self._sums.norm("h.ln_1", (flow, *summed))
            graph.kernel((), tokens)
            reads = (above, flow, *kept, *mask, saved.x)
            graph.kernel(
                reads, total, inplace=((above,),), mutates=(tokens,), hidden=self._row_sums
            )
            gradients = self._sums.norm("h.ln_1", (flow, *summed))
            graph.kernel((), wpe)
            graph.kernel((total, positions), mutates=(wpe,))
            return gradients
        workspace = self._sums.workspace()
        gradients = self._sums.gradients("h.ln_1")
        parts = self._sums.later(gradients)
        direct = tuple(gradients)
        if gathered and not mask:
            rows = [self.single("h.ln_1 sums", shapes.tokens) for _ in range(2)]
            graph.kernel((flow, *kept), *rows, *parts, workspace=workspace, direct=direct)
            self._sums.finish(parts, gradients)
            graph.kernel((), wpe)
            graph.kernel((), tokens)
            reads = (above, flow, *kept, *rows, saved.x, positions)
            graph.kernel(reads, total, inplace=((above,),), mutates=(tokens, wpe))
            return gradients
        if gathered:
            token = self.single("h.ln_1 input", self.btc)
            graph.kernel((*kept, *mask), token, inplace=((kept[0],),))
            kept = (token, kept[3])
        graph.kernel((), tokens)
        graph.kernel(
            (above, flow, *kept, *mask, saved.x),
            total,
            *parts,
            inplace=((above,),),
            workspace=workspace,
            direct=direct,
            mutates=(tokens,),
            hidden=self._row_sums,
        )
        self._sums.finish(parts, gradients)
        graph.kernel((), wpe)
        graph.kernel((total, positions), mutates=(wpe,))
        return gradients
