"""A script's own model with a loop that is not read: nanoGPT's loop stands for it, in doubt."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.nn import functional as F

class CausalSelfAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.qkv, self.proj = nn.Linear(c["C"], 3 * c["C"]), nn.Linear(c["C"], c["C"])
        self.n_head = c["H"]
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).contiguous().view(B, T, C))

class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.up, self.down = nn.Linear(c["C"], 4 * c["C"]), nn.Linear(4 * c["C"], c["C"])
    def forward(self, x):
        return self.down(F.gelu(self.up(x)))

class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.m = CausalSelfAttention(c), MLP(c)
    def forward(self, x):
        x = x + self.a(x)
        return x + self.m(x)

class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.wte = nn.Embedding(c["V"], c["C"])
        self.h = nn.ModuleList([Block(c) for _ in range(c["L"])])
        self.head = nn.Linear(c["C"], c["V"], bias=False)
    def forward(self, idx, targets=None):
        x = self.wte(idx)
        for block in self.h:
            x = block(x)
        logits = self.head(x)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), fused=True)

total_batch_size, B, T = 524288, 64, 1024
model = GPT(dict(C=768, H=12, L=12, V=50304))
optimizer = model.configure_optimizers()
for step in range(9):
    for _ in range(total_batch_size // (B * T)):
        x = torch.zeros((B, T), dtype=torch.long)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x, x)
        loss.backward()
    optimizer.step()
"""


CONFIG = """
from dataclasses import dataclass

@dataclass
class Config:
    C: int = 768
    H: int = 12
    L: int = 12
    V: int = 50304

class CausalSelfAttention"""
OTHER = (
    re.sub(r'c\["(\w)"\]', r"c.\1", SCRIPT)
    .replace("\nclass CausalSelfAttention", CONFIG, 1)
    .replace("dict(C=768, H=12, L=12, V=50304)", "Config()")
    .replace("F.gelu(self.up(x))", "F.relu(self.up(x)).square()")
    .replace("        return F.cross", "        return logits, F.cross")
    .replace("loss = model(x, x)", "logits, loss = model(x, x)")
)


def test_a_model_of_its_own_is_read_and_in_doubt_because_of_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(OTHER, encoding="utf-8")
    told = json.loads(nanolint("explain", str(path), "--gpu", "a100-40gb", "--format", "json").out)
    assert told["trust"] == "doubted"
    assert any("the loop is not nanoGPT's own" in each for each in told["doubts"])
    assert told["fits"] is False
    smaller = nanolint("explain", str(path), "--gpu", "a100-40gb", "--set", "B=8").out
    assert "fits A100 40GB" in smaller


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("logits, loss = model(x, x)", "logits, loss = model(x, x, flag=True)"),
        ("optimizer = model", "muon = torch.optim.SGD(model.parameters())\noptimizer = model"),
    ],
)
def test_a_loop_that_differs_in_what_matters_gives_no_number(
    tmp_path: Path, before: str, after: str
) -> None:
    assert before in OTHER
    path = tmp_path / "train.py"
    path.write_text(OTHER.replace(before, after), encoding="utf-8")
    assert nanolint("fit", str(path)).status == 2
