"""A script's own GPT-2: nanoGPT's replay stands for it where every piece is known, else nothing."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING

import pytest

from nanolint.files.notes import forget
from nanolint.trainers.nanogpt.recognition.pieces import digests, model_pieces
from nanolint.trainers.script import gpt2
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


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The script, whose pieces are taken for known ones."""
    tree = ast.parse(SCRIPT)
    known = {key: [each] for key, each in digests(tree, model_pieces(tree)).items()}
    monkeypatch.setattr(gpt2, "known", lambda: known)
    forget()
    path = tmp_path / "train.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def test_a_known_gpt2_has_a_number_and_a_doubt_about_the_loop(file: Path) -> None:
    told = json.loads(nanolint("explain", str(file), "--gpu", "a100-40gb", "--format", "json").out)
    assert told["trust"] == "doubted"
    assert any("the loop is not nanoGPT's own" in each for each in told["doubts"])
    assert told["fits"] is False
    assert told["run"]["batch_size"] == 64
    fits = nanolint("explain", str(file), "--gpu", "a100-40gb", "--set", "B=16").out
    assert "fits A100 40GB" in fits
    thin = nanolint("explain", str(file), "--gpu", "a100-40gb", "--set", "B=32").out
    assert "within the prediction's error" in thin


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("F.gelu(self.up(x))", "F.relu(self.up(x)).square()"),
        ("x = x + self.a(x)", "x = x + self.a(x) * 2"),
        ('nn.Linear(c["C"], 3 * c["C"])', 'nn.Linear(c["C"], 5 * c["C"])'),
    ],
)
def test_with_one_other_piece_there_is_no_number(file: Path, before: str, after: str) -> None:
    assert before in SCRIPT
    file.write_text(SCRIPT.replace(before, after), encoding="utf-8")
    found = nanolint("fit", str(file))
    assert found.status == 2
    assert "cannot be read: " in found.error


def test_the_recorded_pieces_are_those_of_one_model() -> None:
    assert set(gpt2.CORE) <= gpt2.known().keys()
    assert all(found for found in gpt2.known().values())


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
