"""The forward graphs of the compiled GPT: in evaluation, and in training with what it saves.

Traced from Inductor's generated code (torch 2.13.0, default mode). What matters for memory:

- LayerNorm, dropout, the residual sum and the casts around them are one kernel. The residual
  stream is not stored layer by layer: a kernel adds up its terms again, until there are more than
  four reads, and only then stores the sum.
- Half precision copies each weight matrix just before it is used; training saves the copies.
- Training saves LayerNorm's normalised input in float32 and its reciprocal deviation. At the
  first one it saves the embeddings instead, unless the batch is so small that this is no gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.builder import Builder
from nanolint.memory.compiled.graph import BOOL, FLOAT, HALF, INT, Buffer, padded_elements
from nanolint.memory.compiled.saved import Embedding, Layer, Norm, Saved
from nanolint.memory.tape import Component
from nanolint.run.run import Attention

if TYPE_CHECKING:
    from nanolint.memory.shapes import Shapes

MOST_READS = 4  # realize_reads_threshold in torch/_inductor/config.py
SPLIT_LOSS_TOKENS = 8192  # beyond, the mean over tokens takes two kernels

ACTIVATIONS = Component.ACTIVATIONS
COPIES = Component.WEIGHT_COPIES
LOSS = Component.LOGITS_AND_LOSS


def saves_embeddings(shapes: Shapes) -> bool:
    """Whether the partitioner saves the gathered embeddings rather than the normalised input.

    Its minimal cut weighs bytes by their distance from the backward pass. The embeddings cost
    (B+1)TC elements against BTC; where the balance tips was found by tracing (for two sequences
    between widths of 672 and 704).
    """
    batch = shapes.batch_size
    if shapes.dropout:
        return batch >= 5
    return batch >= 3 or (batch == 2 and shapes.n_embd >= 688)


class Forward(Builder):
    """Builds one forward graph. Afterwards: ``graph``, ``logits``, ``loss``, and ``saved``."""

    def __init__(self, shapes: Shapes, *, training: bool) -> None:
        super().__init__(shapes)
        self.training = training
        self._dropout = shapes.dropout and training
        self._terms: list[Buffer] = []
        self._reads = 0
        self.x = self._batch("X")
        self.y = self._batch("Y")
        seeds = 8 * (2 * shapes.n_layer + 1)
        self._seeds = Buffer("dropout seeds", seeds, INT, ACTIVATIONS)
        self.logits = self.matrix("logits (B*T, V)", shapes.tokens * shapes.vocab_size, LOSS)
        self.loss = Buffer("loss", 4, FLOAT, LOSS)
        self.logits.kept = self.loss.kept = True
        self.saved = self._build()

    def _batch(self, name: str) -> Buffer:
        batch = Buffer(name, self.shapes.index_bytes, INT, Component.INPUTS)
        batch.kept = True
        self.graph.arguments.append(batch)
        return batch

    def _keep(self, *buffers: Buffer) -> None:
        if self.training:
            for buffer in buffers:
                buffer.kept = True

    def _build(self) -> Saved:
        shapes, graph = self.shapes, self.graph
        positions = Buffer("positions (T) int64", 8 * shapes.block_size, INT, ACTIVATIONS)
        ln_1, out = self._embed(positions)
        layers = []
        for index in range(shapes.n_layer):
            if index:
                ln_1, out = self._norm("h.ln_1")
            layers.append(self._block(ln_1, out))
        ln_f, out = self._norm("ln_f", final=True)
        head = self._copy("lm_head.weight (V, C)", shapes.vocab_size * shapes.n_embd)
        copies = (head,) if head else ()
        graph.product((out, *copies), self.logits)
        self._keep(out, *copies)
        statistics = self._loss()
        return Saved(
            self.x, self.y, positions, tuple(layers), ln_f, out, head, self.logits, statistics
        )

    def _embed(self, positions: Buffer) -> tuple[Norm | Embedding, Buffer]:
        shapes, graph = self.shapes, self.graph
        out = self.matrix("output of h.ln_1 (B, T, C)", self.btc)
        hat = self.single("normalised input of h.ln_1 (B, T, C)", self.btc)
        deviation = self.single("rstd of h.ln_1 (B*T)", shapes.tokens)
        mask = self._mask()
        masks = (mask,) if mask else ()
        if not self.training:
            self._reads = 3  # idx, wte, wpe
            graph.kernel((self.x,), out)
            return Norm(hat, deviation, mask), out
        graph.kernel((), positions)
        position = self.single("position embeddings (T, C)", shapes.block_size * shapes.n_embd)
        gathered = saves_embeddings(shapes)
        if gathered:
            graph.kernel((), position)
        if mask:
            graph.kernel((), self._seeds)
        reads = (self.x, self._seeds) if mask else (self.x,)
        self._keep(positions, deviation, out, *masks)
        if not gathered:
            graph.kernel(reads, *masks, hat, out, deviation)
            self._keep(hat)
            self._terms = [*masks]
            self._reads = 3 + len(masks)
            return Norm(hat, deviation, mask), out
        token = self.single("token embeddings (B, T, C)", self.btc)
        mean = self.single("mean of h.ln_1 (B*T)", shapes.tokens)
        graph.kernel((*reads, position), *masks, token, mean, deviation, out)
        self._keep(position, token, mean)
        self._terms = [*masks, token, position]
        self._reads = len(self._terms)
        return Embedding(token, position, mean, deviation, mask), out

    def _mask(self) -> Buffer | None:
        if not self._dropout:
            return None
        shapes = self.shapes
        nbytes = padded_elements(shapes.batch_size, shapes.block_size, shapes.n_embd, 1)
        return Buffer("dropout mask (B, T, C) bool", nbytes, BOOL, ACTIVATIONS)

    def _norm(self, name: str, *, final: bool = False) -> tuple[Norm, Buffer]:
        """LayerNorm of the residual stream, with the dropout of the term added last."""
        shapes = self.shapes
        terms = self._terms
        mask = self._mask()
        reads = [*terms, self._seeds] if mask else list(terms)
        writes: list[Buffer] = []
        inplace: list[tuple[Buffer, ...]] = []
        if mask:
            self._keep(mask)
            writes.append(mask)
            inplace.append(())
            terms.append(mask)
            self._reads += 1
        source = tuple(term for term in terms if term.dtype == FLOAT)
        stored = self._reads > MOST_READS
        if stored and not final:
            total = self.single("residual stream (B, T, C)", self.btc)
            writes.append(total)
            inplace.append(source)
            source = (total,)
            self._terms = [total]
            self._reads = 1
        out = self.matrix(f"output of {name} (B, T, C)", self.btc)
        hat = self.single(f"normalised input of {name} (B, T, C)", self.btc)
        deviation = self.single(f"rstd of {name} (B*T)", shapes.tokens)
        if not self.training:
            # Terms that only the sum reads cannot be taken over by what is made from the sum.
            if not shapes.half:
                inplace.append(source)
            elif not stored:
                inplace.append(tuple(term for term in terms if term.dtype == HALF))
            self.graph.kernel(reads, *writes, out, inplace=tuple(inplace))
        else:
            self._keep(hat, deviation, out)
            self.graph.kernel(reads, *writes, hat, out, deviation, inplace=(*inplace, source))
        return Norm(hat, deviation, mask), out

    def _copy(self, name: str, numel: int) -> Buffer | None:
        """The half copy of a weight matrix or, in evaluation and with ``bias``, of a vector."""
        if not self.shapes.half:
            return None
        copy = Buffer(f"copy of {name}", 2 * numel, HALF, COPIES)
        self.graph.kernel((), copy)
        return copy

    def _linear_copies(self, name: str, columns: int, rows: int) -> tuple[Buffer | None, ...]:
        """The copies of a Linear's weight and bias; only the weight's is saved."""
        weight = self._copy(f"{name}.weight", columns * rows)
        if weight is None:
            return (None,)
        self._keep(weight)
        return (weight, self._copy(f"{name}.bias", rows)) if self.shapes.bias else (weight,)

    def _linear(self, flow: Buffer, copies: tuple[Buffer | None, ...], out: Buffer) -> None:
        reads = (flow, *(copy for copy in copies if copy))
        self.graph.product(reads, out, biased=self.shapes.bias)

    def _block(self, ln_1: Norm | Embedding, ln_1_out: Buffer) -> Layer:
        shapes, btc = self.shapes, self.btc
        c = shapes.n_embd
        c_attn = self._linear_copies("h.attn.c_attn", c, 3 * c)
        qkv = self.matrix("output of h.attn.c_attn (B, T, 3C)", 3 * btc)
        self._linear(ln_1_out, c_attn, qkv)
        attention = self._attention(qkv)
        attn_proj = self._linear_copies("h.attn.c_proj", c, c)
        proj = self.matrix("output of h.attn.c_proj (B, T, C)", btc)
        self._linear(attention[0], attn_proj, proj)
        self._add(proj)
        ln_2, ln_2_out = self._norm("h.ln_2")
        c_fc = self._linear_copies("h.mlp.c_fc", c, 4 * c)
        fc = self.matrix("output of h.mlp.c_fc (B, T, 4C)", 4 * btc)
        self._linear(ln_2_out, c_fc, fc)
        gelu = self.matrix("GELU output (B, T, 4C)", 4 * btc)
        early = self.training and not shapes.bias  # the copy comes before GELU
        if early:
            mlp_proj = self._linear_copies("h.mlp.c_proj", 4 * c, c)
        self._keep(qkv, *attention, fc, gelu)
        self.graph.kernel((fc,), gelu, inplace=((fc,),))
        if not early:
            mlp_proj = self._linear_copies("h.mlp.c_proj", 4 * c, c)
        down = self.matrix("output of h.mlp.c_proj (B, T, C)", btc)
        self._linear(gelu, mlp_proj, down)
        self._add(down)
        copies = (c_attn[0], attn_proj[0], c_fc[0], mlp_proj[0])
        return Layer(ln_1, ln_1_out, qkv, attention, ln_2, ln_2_out, fc, gelu, *copies)

    def _add(self, term: Buffer) -> None:
        self._terms.append(term)
        # In float32 the bias is added here too, not by the matrix product.
        self._reads += 1 if self.shapes.half or not self.shapes.bias else 2

    def _attention(self, qkv: Buffer) -> tuple[Buffer, ...]:
        """Output, and in training log-sum-exp and the random state, of the attention kernel."""
        shapes = self.shapes
        rows = shapes.batch_size * shapes.n_head
        flash = shapes.attention is Attention.FLASH
        length = shapes.block_size if flash else -(-shapes.block_size // 32) * 32
        out = self.matrix("attention output (B, T, C)", self.btc)
        sumexp = self.single("attention log-sum-exp (B, H, T)", rows * length)
        sizes = (16 if flash else 8, 8) if shapes.attention_state else ()
        state = tuple(Buffer("attention random state", size, INT, ACTIVATIONS) for size in sizes)
        if self.training:
            self.graph.call((qkv,), (out, sumexp, *state))
        else:
            self.graph.call((qkv,), (out,), (*([sumexp] if flash else []), *state) * 2)
        return out, sumexp, *state

    def _loss(self) -> tuple[Buffer, ...]:
        shapes, graph = self.shapes, self.graph
        tokens = shapes.tokens
        amax = Buffer("cross_entropy maximum (B*T) float32", 4 * tokens, FLOAT, LOSS)
        log = Buffer("cross_entropy log-sum-exp (B*T) float32", 4 * tokens, FLOAT, LOSS)
        count = Buffer("cross_entropy count", 4, FLOAT, LOSS)
        graph.kernel((self.logits,), amax, log)
        saved: tuple[Buffer, ...] = amax, log, count
        if shapes.inductor.saves_log_softmax and self.training:
            found = self.matrix("log-softmax (B*T, V)", tokens * shapes.vocab_size, LOSS)
            graph.kernel((self.logits, amax, log), found)
            saved = found, count
        self._keep(*saved)
        reads: tuple[Buffer, ...] = (self.y, self.logits, amax, log)
        if tokens > SPLIT_LOSS_TOKENS:
            splits = -(-tokens // SPLIT_LOSS_TOKENS)
            sums = Buffer("cross_entropy partial sums", 4 * splits, FLOAT, LOSS)
            counts = Buffer("cross_entropy partial counts", 8 * splits, INT, LOSS)
            parts = (counts, sums) if self.training else (sums, counts)
            graph.kernel(reads, *parts)
            reads = parts
        graph.kernel(reads, self.loss, *((count,) if self.training else ()))
        return saved
