"""A model of its own, in our own words: norms by hand, rotary positions, gated layers."""

from __future__ import annotations

MODEL = """\
import inspect
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
        return (x.float() * scale).type_as(x) * self.weight


def turned(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).type_as(x)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.n_head
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd, bias=False)
        self.out = nn.Linear(config.n_embd, config.n_embd, bias=False)

    def forward(self, x, cos, sin):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (y.view(B, T, self.heads, C // self.heads).transpose(1, 2) for y in (q, k, v))
        q, k = turned(q, cos, sin), turned(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).contiguous().view(B, T, C))


class Gated(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = 8 * config.n_embd // 3
        self.gate = nn.Linear(config.n_embd, width, bias=False)
        self.up = nn.Linear(config.n_embd, width, bias=False)
        self.down = nn.Linear(width, config.n_embd, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.before = Norm(config.n_embd)
        self.attention = Attention(config)
        self.between = Norm(config.n_embd)
        self.gated = Gated(config)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.before(x), cos, sin)
        return x + self.gated(self.between(x))


@dataclass
class GPTConfig:
    block_size: int = 1024
    vocab_size: int = 50304
    n_layer: int = 12
    n_head: int = 12
    n_embd: int = 768
    dropout: float = 0.0
    bias: bool = False


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.n_layer)])
        self.norm = Norm(config.n_embd)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.wte.weight = self.head.weight
        half = config.n_embd // config.n_head // 2
        angles = torch.outer(
            torch.arange(config.block_size).float(),
            10000.0 ** (-torch.arange(half).float() / half),
        )
        self.register_buffer('cos', angles.cos(), persistent=False)
        self.register_buffer('sin', angles.sin(), persistent=False)

    def forward(self, idx, targets=None):
        T = idx.size(1)
        x = self.wte(idx)
        for block in self.blocks:
            x = block(x, self.cos[:T], self.sin[:T])
        x = self.norm(x)
        if targets is not None:
            logits = self.head(x)
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        else:
            logits = self.head(x[:, [-1], :])
            loss = None
        return logits, loss

    def configure_optimizers(self, weight_decay, learning_rate, betas, device_type):
        params = [p for p in self.parameters() if p.requires_grad]
        groups = [
            {'params': [p for p in params if p.dim() >= 2], 'weight_decay': weight_decay},
            {'params': [p for p in params if p.dim() < 2], 'weight_decay': 0.0},
        ]
        return torch.optim.AdamW(groups, lr=learning_rate, betas=betas, fused=True)
"""
