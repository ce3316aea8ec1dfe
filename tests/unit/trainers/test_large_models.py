"""Models of many small modules, which are built before anything trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.described import Role
from nanolint.trainers.no_run import why_no_run
from tests.unit.trainers.written_scripts import read

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.nn import functional as F

class Head(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.key = nn.Linear(width, size, bias=False)
        self.query = nn.Linear(width, size, bias=False)
        self.value = nn.Linear(width, size, bias=False)

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = nn.ModuleList([Head(width, width // heads) for _ in range(heads)])
        self.proj = nn.Linear(width, width)

class Net(nn.Module):
    def __init__(self, layers, heads, width=256):
        super().__init__()
        self.wte = nn.Embedding(512, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.head = nn.Linear(width, 512)
    def forward(self, idx):
        return self.head(self.wte(idx))

B, T = 8, 64
model = Net({layers}, 32).cuda()
{more}
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    x = torch.randint(0, 512, (B, T), device="cuda")
    loss = F.cross_entropy(model(x).view(-1, 512), x.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_heads_that_are_alike_are_followed_once() -> None:
    found = read(SCRIPT.replace("{layers}", "48").replace("{more}", ""))
    assert found.trains
    wanted = (Role.MICRO_BATCH, Role.CONTEXT, Role.LAYERS, Role.WIDTH)
    assert [found.value(role) for role in wanted] == [8, 64, 48, 256]


def test_a_script_that_is_too_long_to_follow_is_said_to_be(tmp_path: Path) -> None:
    """Not that its loop is its own."""
    text = SCRIPT.replace("{layers}", "2")
    text = text.replace("{more}", "models = [\n" + "    Net(48, 32),\n" * 40 + "]")
    path = tmp_path / "train.py"
    path.write_text(text, encoding="utf-8")
    assert "takes too many steps to read" in why_no_run(text, path)


# Calls of calls: so many are not followed, and all are read.
LONG = """
def one(x):
    return x + 1
def ten(x):
    return one(one(one(one(one(one(one(one(one(one(x))))))))))
def hundred(x):
    return ten(ten(ten(ten(ten(ten(ten(ten(ten(ten(x))))))))))
def thousand(x):
    return hundred(hundred(hundred(hundred(hundred(hundred(hundred(hundred(x))))))))
def many(x):
    return thousand(thousand(thousand(thousand(thousand(thousand(thousand(x)))))))
many(many(many(0)))
"""
MAIN = """
if __name__ == "__main__":
    from trainer import train
    train(model, B, T)
"""
