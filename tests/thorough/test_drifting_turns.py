"""An evaluation with gradients lets go of a graph in each turn: what is reserved grows for long.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu rtx-4090``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from torch import nn
B, T, C, H, L = 64, 256, 384, 6, 6
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.key, self.value = (nn.Linear(C, 32, bias=False) for _ in range(2))
        self.register_buffer("tril", torch.tril(torch.ones(T, T)))
    def forward(self, x):
        k = q = self.key(x)
        q = self.key(x)
        weights = q @ k.transpose(-2, -1)
        weights *= 32**-0.5
        weights = weights.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        weights = torch.softmax(weights, dim=-1)
        return weights @ self.value(x)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head() for _ in range(H)])
        self.proj = nn.Linear(32 * H, C)
        self.net = nn.Sequential(nn.Linear(C, 4 * C), nn.ReLU(), nn.Linear(4 * C, C))
        self.one, self.two = nn.LayerNorm(C), nn.LayerNorm(C)
    def forward(self, x):
        y = self.one(x)
        x = x + self.proj(torch.cat([head(y) for head in self.heads], dim=-1))
        return x + self.net(self.two(x))
class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(65, C), nn.Embedding(T, C)
        self.blocks = nn.Sequential(*[Block() for _ in range(L)])
        self.norm, self.head = nn.LayerNorm(C), nn.Linear(C, 65)
    def forward(self, x, y):
        x = self.wte(x) + self.wpe(torch.arange(T, device=x.device))
        logits = self.head(self.norm(self.blocks(x)))
        logits = logits.view(B * T, 65)
        return logits, nn.functional.cross_entropy(logits, y.view(-1))
def batch():
    return (torch.randint(0, 65, (B, T), device="cuda") for _ in range(2))
model = GPT().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    x, y = batch()
    logits, loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        model.eval()
        for split in ("train", "valid"):
            losses = []
            for k in range(60):
                x, y = batch()
                logits, loss = model(x, y)
                losses.append(loss.item())
        model.train()
"""


def test_turns_are_read_until_none_reserves_more(tmp_path: Path) -> None:
    found = explained(tmp_path, SCRIPT, "--torch-version=2.13", card="rtx-4090")
    peak = found["peak"]
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert (peak["allocated_bytes"], peak["reserved_bytes"]) == (4_559_608_832, 4_817_158_144)
