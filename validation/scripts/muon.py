"""Muon with stacks of weights beside AdamW for the rest, as modded-nanogpt and nanochat have it."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH_SIZE = 4
SEQUENCE_LENGTH = 128
WIDTH = 64
LAYERS = 3
VOCABULARY = 512


def orthogonal(G, steps=5):
    a, b, c = 3.4445, -4.7750, 2.0315
    X = G.bfloat16()
    if G.size(-2) > G.size(-1):
        X = X.mT
    X = X / (X.norm(dim=(-2, -1), keepdim=True) * 1.02 + 1e-6)
    for _ in range(steps):
        A = X @ X.mT
        B = b * A + c * A @ A
        X = a * X + B @ X
    if G.size(-2) > G.size(-1):
        X = X.mT
    return X


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr=0.02, momentum=0.95, nesterov=True, weight_decay=0.01):
        defaults = dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay)
        params = [*params]
        sizes = {p.shape for p in params}
        groups = [{"params": [p for p in params if p.shape == size]} for size in sorted(sizes)]
        super().__init__(groups, defaults)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            params = group["params"]
            state = self.state[params[0]]
            stacked = torch.stack([p.grad for p in params])
            weights = torch.stack(params)
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = torch.zeros_like(stacked)
            buffer = state["momentum_buffer"]
            buffer.lerp_(stacked, 1 - group["momentum"])
            g = stacked.lerp_(buffer, group["momentum"]) if group["nesterov"] else buffer
            g = orthogonal(g)
            scale = max(1, params[0].size(-2) / params[0].size(-1)) ** 0.5
            weights.mul_(1 - group["lr"] * group["weight_decay"])
            weights.sub_(group["lr"] * scale * g.to(weights.dtype))
            torch._foreach_copy_(params, list(weights.unbind(0)))


def norm(x):
    return F.rms_norm(x, (x.size(-1),))


def rotary(x, cos, sin):
    half = x.shape[3] // 2
    x1, x2 = x[..., :half], x[..., half:]
    return torch.cat([x1 * cos + x2 * sin, x2 * cos - x1 * sin], 3)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.heads = 2
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x, cos, sin):
        B, T, C = x.shape
        y = norm(x)
        q, k, v = (each(y).view(B, T, self.heads, -1) for each in (self.q, self.k, self.v))
        q, k = norm(rotary(q, cos, sin)), norm(rotary(k, cos, sin))
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.down(F.relu(self.up(norm(x))).square())


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(LAYERS)])
        self.scales = nn.Parameter(torch.ones(LAYERS))
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        places = torch.arange(SEQUENCE_LENGTH, dtype=torch.float32)
        speeds = 1.0 / (10000 ** (torch.arange(0, width // 2, 2, dtype=torch.float32) / 32))
        angles = torch.outer(places, speeds)
        cos, sin = angles.cos().bfloat16(), angles.sin().bfloat16()
        self.register_buffer("cos", cos[None, :, None, :], persistent=False)
        self.register_buffer("sin", sin[None, :, None, :], persistent=False)

    def forward(self, idx, targets):
        x = norm(self.tokens(idx))
        first = x
        for place, block in enumerate(self.blocks):
            x = self.scales[place] * x + 0.1 * first
            x = block(x, self.cos, self.sin)
        logits = self.head(norm(x)).float()
        logits = 15 * torch.tanh(logits / 15)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def batches():
    while True:
        data = torch.randint(VOCABULARY, (BATCH_SIZE, SEQUENCE_LENGTH + 1)).pin_memory()
        x = data[:, :-1].to(device="cuda", non_blocking=True)
        y = data[:, 1:].to(device="cuda", non_blocking=True)
        yield x, y


def main():
    model = Net(WIDTH).cuda()
    model.tokens.to(dtype=torch.bfloat16)
    loader = batches()
    inner = [p for p in model.blocks.parameters() if p.ndim == 2]
    others = [model.tokens.weight, model.head.weight, model.scales]
    adam = torch.optim.AdamW(others, lr=3e-4, betas=(0.8, 0.95), eps=1e-10, fused=True)
    muon = Muon(inner)
    optimizers = [adam, muon]
    x, y = next(loader)
    for step in range(100):
        for micro_step in range(2):
            with torch.amp.autocast("cuda", dtype=torch.bfloat16):
                loss = model(x, y)
            train_loss = loss.detach()
            loss = loss / 2
            loss.backward()
            x, y = next(loader)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["lr"] * 0.99
            optimizer.step()
        model.zero_grad(set_to_none=True)
        print(step, train_loss.item())


if __name__ == "__main__":
    main()
