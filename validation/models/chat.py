"""A model as small chat trainers have it: value embeddings behind gates, scalars for each layer, no
weights in its norms, squared activations, a softcap in float32, and a loss and nothing else.
"""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class ChatConfig:
    block_size: int = 256
    vocab_size: int = 1024
    n_layer: int = 4
    n_head: int = 2
    n_kv_head: int = 2
    n_embd: int = 256
    smears: bool = False
    backs_out: bool = False


def norm(x):
    return F.rms_norm(x, (x.size(-1),))


def rotate(x, cos, sin):
    half = x.shape[3] // 2
    one, two = x[..., :half], x[..., half:]
    return torch.cat([one * cos + two * sin, two * cos - one * sin], 3)


class Attention(nn.Module):
    def __init__(self, config, has_values):
        super().__init__()
        self.n_head, self.n_kv_head = config.n_head, config.n_kv_head
        self.width = config.n_embd // config.n_head
        inner = self.n_kv_head * self.width
        self.q = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.k = nn.Linear(config.n_embd, inner, bias=False)
        self.v = nn.Linear(config.n_embd, inner, bias=False)
        self.out = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.gate = nn.Linear(32, self.n_kv_head, bias=False) if has_values else None

    def forward(self, x, values, angles):
        b, t, c = x.size()
        q = self.q(x).view(b, t, self.n_head, self.width)
        k = self.k(x).view(b, t, self.n_kv_head, self.width)
        v = self.v(x).view(b, t, self.n_kv_head, self.width)
        if values is not None:
            gate = 2 * torch.sigmoid(self.gate(x[..., :32]))
            v = v + gate.unsqueeze(-1) * values.view(b, t, self.n_kv_head, self.width)
        q, k = norm(rotate(q, *angles)), norm(rotate(k, *angles))
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        shares = self.n_head != self.n_kv_head
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=shares)
        return self.out(y.transpose(1, 2).contiguous().view(b, t, c))


class Block(nn.Module):
    def __init__(self, config, has_values):
        super().__init__()
        self.attention = Attention(config, has_values)
        self.up = nn.Linear(config.n_embd, 4 * config.n_embd, bias=False)
        self.down = nn.Linear(4 * config.n_embd, config.n_embd, bias=False)

    def forward(self, x, values, angles):
        x = x + self.attention(norm(x), values, angles)
        return x + self.down(F.relu(self.up(norm(x))).square())


class Chat(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.table = nn.Embedding(config.vocab_size, config.n_embd)
        self.values = nn.ModuleDict(
            {
                str(place): nn.Embedding(
                    config.vocab_size, config.n_embd // config.n_head * config.n_kv_head
                )
                for place in range(config.n_layer)
                if place % 2
            }
        )
        self.blocks = nn.ModuleList(
            [Block(config, str(place) in self.values) for place in range(config.n_layer)]
        )
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.scales = nn.Parameter(torch.ones(config.n_layer))
        self.first_scales = nn.Parameter(torch.zeros(config.n_layer))
        if config.smears:
            self.smear = nn.Linear(24, 1, bias=False)
        if config.backs_out:
            self.middle_scale = nn.Parameter(torch.ones(1))
        width = config.n_embd // config.n_head
        steps = 1.0 / (10000 ** (torch.arange(0, width, 2, dtype=torch.float32) / width))
        angles = torch.outer(torch.arange(10 * config.block_size, dtype=torch.float32), steps)
        cos, sin = angles.cos().bfloat16(), angles.sin().bfloat16()
        self.register_buffer("cos", cos[None, :, None, :], persistent=False)
        self.register_buffer("sin", sin[None, :, None, :], persistent=False)

    def forward(self, index, targets):
        t = index.size(1)
        angles = self.cos[:, :t], self.sin[:, :t]
        x = norm(self.table(index))
        if self.config.smears:
            gate = torch.sigmoid(self.smear(x[:, 1:, :24]))
            x = torch.cat([x[:, :1], x[:, 1:] + gate * x[:, :-1]], dim=1)
        first, middle = x, x
        for place, block in enumerate(self.blocks):
            x = self.scales[place] * x + self.first_scales[place] * first
            values = self.values[str(place)](index) if str(place) in self.values else None
            x = block(x, values, angles)
            if place == len(self.blocks) // 2:
                middle = x
        if self.config.backs_out:
            x = x - self.middle_scale.to(x.dtype) * middle
        logits = self.head(norm(x)).float()
        logits = 15 * torch.tanh(logits / 15)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return None, loss
