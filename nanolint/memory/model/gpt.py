"""nanoGPT's model.py, statement by statement. B, T, C, H, V as there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.model.module import Dropout, Embedding, LayerNorm, Linear, Module
from nanolint.memory.model.repeated import Plans, Repeated
from nanolint.memory.tape import Component
from nanolint.memory.tensors.checkpoint import checkpoint
from nanolint.memory.tensors.dtypes import INT64
from nanolint.memory.tensors.ops.activations import gelu
from nanolint.memory.tensors.ops.attention import attend
from nanolint.memory.tensors.ops.comparison import compare, masked_fill
from nanolint.memory.tensors.ops.creation import create
from nanolint.memory.tensors.ops.linear import matmul
from nanolint.memory.tensors.ops.linear_cross_entropy import linear_cross_entropy
from nanolint.memory.tensors.ops.loss import cross_entropy, softmax
from nanolint.memory.tensors.ops.parts import sliced, split
from nanolint.memory.tensors.ops.pointwise import add, mul
from nanolint.memory.tensors.ops.views import contiguous, transpose, view
from nanolint.memory.tensors.parameter import Buffer
from nanolint.memory.tensors.role import role
from nanolint.memory.tensors.tensor import Tensor
from nanolint.run.run import Attention

if TYPE_CHECKING:
    from nanolint.memory.shapes import Shapes
    from nanolint.memory.tensors.device import Device
    from nanolint.memory.tensors.role import Role


def activation(label: str, dims: str = "(B, T, C)") -> Role:
    """The role of an activation that this model names."""
    return role(label, Component.ACTIVATIONS, dims)


class CausalSelfAttention(Module):
    """Attention by a fused kernel, or written out, as before torch 2.0."""

    def __init__(self, device: Device, s: Shapes) -> None:
        self.s = s
        c = s.n_embd
        output = activation("c_attn output", "(B, T, 3C)")
        self.c_attn = Linear(device, "h.attn.c_attn", c, 3 * c, s.bias, output)
        output = activation("attention c_proj output")
        self.c_proj = Linear(device, "h.attn.c_proj", c, c, s.bias, output)
        self.attn_dropout = Dropout(s.dropout)
        self.resid_dropout = Dropout(s.dropout)
        self.fused = s.attention is not Attention.MATH
        if not self.fused:
            shape = (1, 1, s.block_size, s.block_size)
            self.bias = Buffer(device, "causal mask", shape)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) to the same."""
        b, t, c = x.shape
        heads = (b, t, self.s.n_head, c // self.s.n_head)
        q, k, v = split(self.c_attn(x), c, dim=2)
        k = transpose(view(k, heads), 1, 2)
        q = transpose(view(q, heads), 1, 2)
        v = transpose(view(v, heads), 1, 2)
        if self.fused:
            dropout = float(self.s.dropout and self.training)
            flash = self.s.attention is Attention.FLASH
            y = attend(q, k, v, flash=flash, dropout_p=dropout)
        else:
            att = mul(matmul(q, transpose(k, -2, -1)), 1.0)
            att = masked_fill(att, compare(sliced(sliced(self.bias, 2, t), 3, t), 0), 0.0)
            att = softmax(att)
            att = self.attn_dropout(att)
            y = matmul(att, v)
        y = view(contiguous(transpose(y, 1, 2)), (b, t, c))
        y = self.resid_dropout(self.c_proj(y))  # its old value goes before q, k and v do
        assert isinstance(y, Tensor)
        return y


class MLP(Module):
    """Four times as wide inside."""

    def __init__(self, device: Device, s: Shapes) -> None:
        c = s.n_embd
        output = activation("c_fc output", "(B, T, 4C)")
        self.c_fc = Linear(device, "h.mlp.c_fc", c, 4 * c, s.bias, output)
        output = activation("mlp c_proj output")
        self.c_proj = Linear(device, "h.mlp.c_proj", 4 * c, c, s.bias, output)
        self.dropout = Dropout(s.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) to the same."""
        x = self.c_fc(x)
        x = gelu(x)
        x = self.c_proj(x)
        out: Tensor = self.dropout(x)
        return out


class Block(Module):
    """Attention and MLP, each added to the residual stream."""

    def __init__(self, device: Device, s: Shapes) -> None:
        self.ln_1 = LayerNorm(device, "h.ln_1", s.n_embd, s.bias)
        self.attn = CausalSelfAttention(device, s)
        self.ln_2 = LayerNorm(device, "h.ln_2", s.n_embd, s.bias)
        self.mlp = MLP(device, s)
        self.stream = activation("residual stream")

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) to the same."""
        x = add(x, self.attn(self.ln_1(x)), role=self.stream)
        return add(x, self.mlp(self.ln_2(x)), role=self.stream)


class GPT(Module):
    """The whole model, its head tied to the token embedding.

    With ``checkpoints`` each block goes through torch.utils.checkpoint, without reentry; with
    ``chunked_loss`` ``F.linear_cross_entropy`` takes the place of head and loss.
    """

    def __init__(
        self, device: Device, s: Shapes, *, checkpoints: bool = False, chunked_loss: bool = False
    ) -> None:
        self.s, self.device = s, device
        self.chunked_loss = chunked_loss
        tokens = activation("token embeddings")
        positions = activation("position embeddings", "(T, C)")
        self.wte = Embedding(device, "wte", s.vocab_size, s.n_embd, tokens)
        self.wpe = Embedding(device, "wpe", s.block_size, s.n_embd, positions)
        self.drop = Dropout(s.dropout)
        plans = Plans(lambda card: Block(card, s))
        self.checkpoints = checkpoints
        self.h: list[Module] = []
        for _ in range(s.n_layer):
            block = Block(device, s)
            self.h.append(block if checkpoints else Repeated(block, plans))
        self.ln_f = LayerNorm(device, "ln_f", s.n_embd, s.bias)
        self.logits = role("logits", Component.LOGITS_AND_LOSS, "(B*T, V)")
        self.lm_head = Linear(device, "lm_head", s.n_embd, s.vocab_size, False, self.logits)
        self.lm_head.weight = self.wte.weight

    def forward(self, idx: Tensor, targets: Tensor) -> tuple[Tensor | None, Tensor]:
        """idx and targets (B, T) int64 to the logits (B, T, V), if there are any, and the loss."""
        _, t = idx.shape
        pos = create(self.device, (t,), INT64, activation("positions", "(T)"))
        tok_emb = self.wte(idx)
        pos_emb = self.wpe(pos)
        x = self.drop(add(tok_emb, pos_emb, role=activation("embeddings")))
        for block in self.h:
            if self.checkpoints:
                x = checkpoint(block, x, device=self.device, use_reentrant=False)
            else:
                x = block(x)
        x = self.ln_f(x)
        if self.chunked_loss:
            rows = view(x, (-1, x.shape[-1]))
            return None, linear_cross_entropy(rows, self.lm_head.weight, self.logits)
        logits = self.lm_head(x)
        loss = cross_entropy(view(logits, (-1, logits.shape[-1])), view(targets, (-1,)))
        return logits, loss
