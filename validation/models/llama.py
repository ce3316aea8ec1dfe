"""A fork: RMSNorm written out, rotary embeddings, shared key heads, a gated MLP, its own head."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class LlamaConfig:
    block_size: int = 1024
    vocab_size: int = 50304
    n_layer: int = 12
    n_head: int = 12
    n_kv_head: int | None = None
    repeats: bool = False  # shared heads are laid out one after another
    n_embd: int = 768
    softcap: float = 0.0

    def __post_init__(self):
        if self.n_kv_head is None:
            self.n_kv_head = self.n_head

    @property
    def head_size(self) -> int:
        return self.n_embd // self.n_head


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def _norm(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x: Tensor) -> Tensor:
        return self._norm(x.float()).type_as(x) * self.weight


def tables(size: int, length: int, theta: float = 10000.0) -> tuple[Tensor, Tensor]:
    steps = 1.0 / (theta ** (torch.arange(0, size, 2)[: size // 2].float() / size))
    angles = torch.outer(torch.arange(length).float(), steps)
    return angles.cos(), angles.sin()


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    one, other = x.chunk(2, dim=-1)
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    return torch.cat((one * cos - other * sin, other * cos + one * sin), dim=-1)


class Attention(nn.Module):
    def __init__(self, config: LlamaConfig):
        super().__init__()
        self.n_head, self.n_kv_head = config.n_head, config.n_kv_head
        self.groups = self.n_head // self.n_kv_head
        self.repeats = config.repeats
        self.wq = nn.Linear(config.n_embd, self.n_head * config.head_size, bias=False)
        self.wk = nn.Linear(config.n_embd, self.n_kv_head * config.head_size, bias=False)
        self.wv = nn.Linear(config.n_embd, self.n_kv_head * config.head_size, bias=False)
        self.wo = nn.Linear(self.n_head * config.head_size, config.n_embd, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        B, T, _ = x.shape
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        q = q.view(B, T, self.n_head, -1)
        k = k.view(B, T, self.n_kv_head, -1)
        v = v.view(B, T, self.n_kv_head, -1)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if self.repeats:
            k, v = (each.repeat(1, self.groups, 1, 1) for each in (k, v))
        elif self.groups > 1:
            k = k.repeat_interleave(self.groups, dim=1)
            v = v.repeat_interleave(self.groups, dim=1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(out.transpose(1, 2).reshape(B, T, -1))


class FeedForward(nn.Module):
    def __init__(self, width: int, multiple: int = 32):
        super().__init__()
        hidden = multiple * ((int(8 * width / 3) + multiple - 1) // multiple)
        self.w1, self.w3 = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.w2 = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, config: LlamaConfig):
        super().__init__()
        self.attention, self.feed_forward = Attention(config), FeedForward(config.n_embd)
        self.attention_norm, self.ffn_norm = RMSNorm(config.n_embd), RMSNorm(config.n_embd)

    def forward(self, x: Tensor, *tables: Tensor) -> Tensor:
        h = x + self.attention(self.attention_norm(x), *tables)
        return h + self.feed_forward(self.ffn_norm(h))


class Llama(nn.Module):
    def __init__(self, config: LlamaConfig):
        super().__init__()
        self.config = config
        self.embeddings = nn.Embedding(config.vocab_size, config.n_embd)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.norm = RMSNorm(config.n_embd)
        self.output = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        cos, sin = tables(config.head_size, config.block_size)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens: Tensor, targets: Tensor | None = None):
        _, T = tokens.shape
        h = self.embeddings(tokens)
        cos, sin = self.cos[:T], self.sin[:T]
        for layer in self.layers:
            h = layer(h, cos, sin)
        logits = self.output(self.norm(h)).float()
        if self.config.softcap:
            logits = self.config.softcap * torch.tanh(logits / self.config.softcap)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)
