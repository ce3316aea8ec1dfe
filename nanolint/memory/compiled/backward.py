"""The backward graph of the compiled GPT, from the loss to the gradients.

Traced from Inductor's generated code (torch 2.13.0, default mode), as compiled_forward.py. Weight
gradients come out of the matrix products in half precision and are cast one by one; all of them
leave the graph together, at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.graph import FLOAT, Buffer, padded_elements
from nanolint.memory.compiled.layers import Layers
from nanolint.memory.compiled.saved import Embedding, Saved
from nanolint.memory.tape import Component

if TYPE_CHECKING:
    from nanolint.memory.shapes import Shapes

GRADIENTS = Component.GRADIENTS
LOSS = Component.LOGITS_AND_LOSS


class Backward(Layers):
    """Builds the backward graph. Afterwards: ``graph`` and ``gradients``, in parameter order.

    ``tangent`` and ``scale`` are the slots of the gradients of the logits and of the loss.
    """

    def __init__(self, shapes: Shapes, saved: Saved, tangent: int, scale: int) -> None:
        super().__init__(shapes, saved)
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

    def _build(self) -> None:
        saved = self.saved
        for batch in (saved.x, saved.y):
            batch.kept = False
            self.graph.arguments.append(batch)
        logits, head_gradient, flow = self._head()
        flow, half, ln_f = self.norm("ln_f", saved.ln_f, None, flow)
        for layer in reversed(saved.layers):
            flow, half = self.block(layer, flow, half)
        self._embed(flow, half, logits, head_gradient)
        wte, wpe = self.gradients
        blocks = [buffer for block in reversed(self.blocks) for buffer in block]
        self.gradients = [wte, wpe, *blocks, *ln_f]
        for gradient in self.gradients:
            gradient.kept = True

    def _head(self) -> tuple[Buffer, Buffer | None, Buffer]:
        """Cross-entropy and lm_head: the gradients of the logits, of wte (half), of ln_f's output.

        In float32 wte's product waits for the embedding's gradient, and the logits' with it.
        """
        saved, shapes, graph = self.saved, self.shapes, self.graph
        batch, columns = shapes.batch_size, shapes.vocab_size
        numel = padded_elements(batch, shapes.block_size, columns, shapes.itemsize)
        gradient = self.matrix("gradient of the logits (B*T, V)", numel, LOSS)
        logits = Buffer("logits", shapes.logits_bytes, self.dtype, LOSS)
        logits.slot = saved.logits.slot
        self.graph.inputs.append(logits)
        statistics = [self.take(buffer) for buffer in saved.statistics]
        # A sum per row stays inside the kernel and so, before the cast to half, does the gradient.
        hidden = 4 * shapes.tokens + (shapes.logits_bytes if shapes.half else 0)
        graph.kernel((saved.y, logits, *statistics, *self._tangents), gradient, hidden=hidden)
        if shapes.inductor.scatters_loss:
            nbytes = 4 * shapes.tokens * columns
            scattered = Buffer("scattered gradient (B*T, V) float32", nbytes, FLOAT, LOSS)
            graph.nodes[-1].scratch = (scattered, scattered)  # made, and freed
        out = self.take(saved.ln_f_out)
        flow = self.matrix("gradient of the output of ln_f (B, T, C)", self.btc)
        copies = (self.take(saved.head),) if saved.head else ()
        if not copies and shapes.inductor.adds_in_product:
            graph.product((gradient,), flow)
            return gradient, None, flow
        weight = self.matrix(
            "gradient of lm_head.weight (V, C)", columns * shapes.n_embd, GRADIENTS
        )
        graph.product((gradient, out), weight)
        graph.product((gradient, *copies), flow)
        return gradient, weight, flow

    def _embed(
        self, above: Buffer, flow: Buffer, logits: Buffer, head_gradient: Buffer | None
    ) -> None:
        """The first LayerNorm and the embeddings; wte's two gradients are added last."""
        saved, shapes, graph = self.saved, self.shapes, self.graph
        positions = self.take(saved.positions)
        wte = self.single(
            "gradient of wte.weight (V, C)", shapes.vocab_size * shapes.n_embd, GRADIENTS
        )
        wpe = self.single(
            "gradient of wpe.weight (T, C)", shapes.block_size * shapes.n_embd, GRADIENTS
        )
        tokens = self.single("gradient of wte.weight (V, C)", wte.nbytes // 4, GRADIENTS)
        ln_1 = self._first_norm(above, flow, tokens, wpe, positions)
        self.blocks[-1] = [*ln_1, *self.blocks[-1]]
        if head_gradient:
            both = () if shapes.half else (head_gradient, tokens)
            graph.kernel((tokens, head_gradient), wte, inplace=(both,))
        else:  # added by the product itself
            graph.product((tokens, logits, saved.ln_f_out), wte)
        self.gradients = [wte, wpe]

    def _first_norm(
        self, above: Buffer, flow: Buffer, tokens: Buffer, wpe: Buffer, positions: Buffer
    ) -> list[Buffer]:
        saved, graph, shapes = self.saved, self.graph, self.shapes
        total = self.single("gradient of the embeddings (B, T, C)", self.btc)
        first = saved.layers[0].ln_1
        gathered = isinstance(first, Embedding)
        kept = tuple(self.take(buffer) for buffer in first[:-1])
        mask = (self.take(first.mask),) if first.mask else ()
        if gathered and not mask:  # the estimate counts the position embeddings once per sequence
            repeats = self.single("position embeddings", (shapes.batch_size - 1) * wpe.nbytes // 4)
            graph.inputs.append(repeats)
            kept += (repeats,)
        if not self.sums.fused:
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
                    hidden=self.row_sums,
                )
                return self.sums.norm("h.ln_1", (flow, *summed))
            graph.kernel((), tokens)
            reads = (above, flow, *kept, *mask, saved.x)
            graph.kernel(reads, total, inplace=((above,),), mutates=(tokens,), hidden=self.row_sums)
            gradients = self.sums.norm("h.ln_1", (flow, *summed))
            graph.kernel((), wpe)
            graph.kernel((total, positions), mutates=(wpe,))
            return gradients
        workspace = self.sums.workspace()
        gradients = self.sums.gradients("h.ln_1")
        parts = self.sums.later(gradients)
        direct = tuple(gradients)
        passing = self.sums.passing(gradients)
        if gathered and not mask:
            rows = [self.single("sums of h.ln_1 (B*T)", shapes.tokens) for _ in range(2)]
            graph.kernel(
                (flow, *kept), *rows, *parts, workspace=workspace, direct=direct, passing=passing
            )
            self.sums.finish(parts, gradients)
            graph.kernel((), wpe)
            graph.kernel((), tokens)
            reads = (above, flow, *kept, *rows, saved.x, positions)
            graph.kernel(reads, total, inplace=((above,),), mutates=(tokens, wpe))
            return gradients
        if gathered:
            token = self.single("input of h.ln_1 (B, T, C)", self.btc)
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
            passing=passing,
            mutates=(tokens,),
            hidden=self.row_sums,
        )
        self.sums.finish(parts, gradients)
        graph.kernel((), wpe)
        graph.kernel((total, positions), mutates=(wpe,))
        return gradients
