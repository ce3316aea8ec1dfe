"""float16 with a gradient scaler, foreach AdamW in groups, a function that evaluates."""

import os
from contextlib import nullcontext
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F

batch_size = 3
block_size = 96
gradient_accumulation_steps = 2
eval_interval = 2
eval_iters = 2
dtype = "float16"
device = "cuda"
grad_clip = 1.0


@dataclass
class Config:
    vocab_size: int = 700
    n_layer: int = 2
    n_embd: int = 64


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        x32 = x.float()
        x32 = x32 * torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + self.eps)
        return x32.type_as(x) * self.weight


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = RMSNorm(width)
        self.gate = nn.Linear(width, 3 * width, bias=False)
        self.up = nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Mixer(nn.Module):
    """Causal attention that is written out."""

    def __init__(self, width):
        super().__init__()
        self.norm = RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=True)
        self.dropout = nn.Dropout(0.1)
        mask = torch.tril(torch.ones(block_size, block_size)).view(1, block_size, block_size)
        self.register_buffer("mask", mask)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        weights = (q @ k.transpose(-2, -1)) * C**-0.5
        weights = weights.masked_fill(self.mask[:, :T, :T] == 0, float("-inf"))
        weights = self.dropout(F.softmax(weights, dim=-1))
        return x + weights @ v


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        layers = []
        for _ in range(config.n_layer):
            layers += [Mixer(config.n_embd), MLP(config.n_embd)]
        self.layers = nn.Sequential(*layers)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size)

    def forward(self, idx, targets=None):
        logits = self.lm_head(self.layers(self.wte(idx)))
        loss = None
        if targets is not None:
            B, T, C = logits.shape
            loss = F.cross_entropy(logits.view(B * T, C), targets.view(B * T), ignore_index=-1)
        return logits, loss

    def configure_optimizers(self, weight_decay, lr):
        decay, no_decay = [], []
        for name, p in self.named_parameters():
            (decay if p.dim() >= 2 else no_decay).append(p)
        groups = [
            {"params": decay, "weight_decay": weight_decay},
            {"params": no_decay, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.99))


def get_batch(split):
    tokens = torch.randint(700, (batch_size, block_size + 1))
    x, y = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    return x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device)


ptdtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[dtype]
device_type = "cuda" if "cuda" in device else "cpu"
ctx = nullcontext() if device_type == "cpu" else torch.amp.autocast(device_type, dtype=ptdtype)
torch.manual_seed(1337)
model = Net(Config())
model.to(device)
scaler = torch.amp.GradScaler("cuda", enabled=(dtype == "float16"))
optimizer = model.configure_optimizers(0.1, 6e-4)
master = int(os.environ.get("RANK", 0)) == 0


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            X, Y = get_batch(split)
            with ctx:
                logits, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


iter_num = 0
X, Y = get_batch("train")
while True:
    if iter_num % eval_interval == 0 and master:
        losses = estimate_loss()
        print(f"{iter_num}: {losses['train']:.4f} {losses['val']:.4f}")
    for micro_step in range(gradient_accumulation_steps):
        with ctx:
            logits, loss = model(X, Y)
            loss = loss / gradient_accumulation_steps
        X, Y = get_batch("train")
        scaler.scale(loss).backward()
    if grad_clip != 0.0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    lossf = loss.item() * gradient_accumulation_steps
    iter_num += 1
    if iter_num > 10:
        break
