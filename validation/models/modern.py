"""What speed runs do: norms without weights, relu squared, values mixed in, gates, a mixture."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


def norm(x):
    return F.rms_norm(x, (x.size(-1),))


class Rotary(nn.Module):
    def __init__(self, width, base=10000):
        super().__init__()
        self.inv_freq = (1 / base) ** (torch.arange(0, width, 2) / width)
        self.seen = None
        self.cached = None

    def forward(self, x):
        length = x.shape[1]
        if length != self.seen:
            t = torch.arange(length, device=x.device)
            freqs = torch.outer(t, self.inv_freq.to(x.device))
            self.seen = length
            self.cached = freqs.cos().bfloat16(), freqs.sin().bfloat16()
        cos, sin = self.cached
        return cos[None, :, None, :], sin[None, :, None, :]


def turned(x, cos, sin):
    d = x.shape[3] // 2
    x1, x2 = x[..., :d], x[..., d:]
    return torch.cat([x1 * cos + x2 * sin, x2 * cos - x1 * sin], 3).type_as(x)


class Attention(nn.Module):
    def __init__(self, width, heads, layer):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width, bias=False)
        self.proj.weight.data.zero_()
        self.rotary = Rotary(width // heads)
        self.mix = nn.Parameter(torch.tensor(0.5)) if layer else None

    def forward(self, x, first):
        B, T, C = x.size()
        q, k, v = (each.view(B, T, self.heads, -1) for each in self.qkv(x).chunk(3, dim=-1))
        first = v if first is None else first
        if self.mix is not None:
            v = (1 - self.mix) * v + self.mix * first.view_as(v)
        cos, sin = self.rotary(q)
        q, k = norm(q), norm(k)
        q, k = turned(q, cos, sin), turned(k, cos, sin)
        y = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.to(q.dtype).transpose(1, 2), is_causal=True
        )
        return self.proj(y.transpose(1, 2).contiguous().view_as(x)), first


class MLP(nn.Sequential):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        return self.down(F.relu(self.up(x)).square())


class Experts(nn.Module):
    """Every expert for every token, and the few that the gate chooses are summed."""

    def __init__(self, width, count, top=2):
        super().__init__()
        self.gate = nn.Linear(width, count, bias=False)
        self.experts = nn.ModuleDict({f"expert_{n}": MLP(width) for n in range(count)})
        self.top = top

    def forward(self, x):
        scores = self.gate(x)
        best, chosen = torch.topk(scores, self.top, dim=-1)
        best = F.softmax(best, dim=-1).to(scores.dtype)
        weights = torch.zeros_like(scores).scatter(-1, chosen, best)
        out = torch.zeros_like(x)
        for place, expert in enumerate(self.experts.values()):
            out = out + weights[..., place, None] * expert(x)
        return out


class Block(nn.Module):
    def __init__(self, width, heads, layer, experts):
        super().__init__()
        self.attn = Attention(width, heads, layer)
        self.mlp = Experts(width, experts) if experts and layer % 2 else MLP(width)
        self.lambdas = nn.Parameter(torch.tensor([1.0, 0.0]))

    def forward(self, x, x0, first):
        x = self.lambdas[0] * x + self.lambdas[1] * x0
        y, first = self.attn(norm(x), first)
        x = x + y
        return x + self.mlp(norm(x)), first


class Modern(nn.Module):
    def __init__(self, vocab_size, n_layer=4, n_embd=64, n_head=4, experts=0, checkpoints=False):
        super().__init__()
        self.checkpoints = checkpoints
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.blocks = nn.ModuleList(
            [Block(n_embd, n_head, layer, experts) for layer in range(n_layer)]
        )
        self.head = nn.Linear(n_embd, vocab_size, bias=False)

    def forward(self, idx, targets=None):
        x = norm(self.wte(idx))
        x0, first = x, None
        skips = []
        for place, block in enumerate(self.blocks):
            if place < len(self.blocks) // 2:
                skips.append(x)
            elif skips:
                x = x + 0.1 * skips.pop()
            if self.checkpoints and self.training:
                x, first = checkpoint(block, x, x0, first, use_reentrant=False)
            else:
                x, first = block(x, x0, first)
        logits = self.head(norm(x))
        logits = 30 * torch.tanh(logits / 30)
        loss = F.cross_entropy(logits.float().view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss
