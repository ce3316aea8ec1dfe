"""Scripts that train more than once: what they train after the first steps is read, or doubted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import copy
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.wte = nn.Embedding(1000, width)
        self.head = nn.Linear(width, 1000)

    def forward(self, idx, targets):
        logits = self.head(self.wte(idx))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

def made(width):
    model = Net(width).cuda()
    return model, torch.optim.AdamW(model.parameters())

def step(model, optimizer, batch=8, length=64):
    x = torch.randint(0, 1000, (batch, length), device="cuda")
    loss = model(x, x)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()

def steps(model, optimizer, count, *sizes):
    for _ in range(count):
        step(model, optimizer, *sizes)
"""
AGAIN = {
    "a model in each turn": """
for width in (64, 512):
    model, optimizer = made(width)
    steps(model, optimizer, 3)
    steps(model, optimizer, 20)
""",
    "a longer context": """
model, optimizer = made(64)
steps(model, optimizer, 100)
steps(model, optimizer, 100, 8, 512)
""",
    "a second model": """
steps(*made(64), 100)
steps(*made(512), 100)
""",
}
READ = {
    "two models that are there from the start": """
first, second = made(64), made(512)
steps(*first, 100)
steps(*second, 100)
""",
    "beside a copy of the state": """
model, optimizer = made(512)
for _ in range(3):
    step(model, optimizer)
kept = copy.deepcopy(optimizer.state_dict())
for _ in range(100):
    step(model, optimizer)
""",
    "beside a copy of the weights": """
model, optimizer = made(512)
for _ in range(100):
    step(model, optimizer)
kept = copy.deepcopy(model)
for _ in range(100):
    step(model, optimizer)
""",
}
TRACED = (40_653_824, 46_789_632, 42_689_536)  # by PyTorch 2.13: nanolint trace --steps 110
ONCE = {
    "in two loops": "model, optimizer = made(512)\nsteps(model, optimizer, 3)\n"
    "torch.save(model.state_dict(), 'model.pt')\nsteps(model, optimizer, 100)\n",
    "in epochs": "model, optimizer = made(64)\nfor epoch in range(9):\n"
    "    steps(model, optimizer, 10)\n",
    "a text is made behind it": "model, optimizer = made(64)\nsteps(model, optimizer, 100)\n"
    "x = torch.zeros((1, 8), dtype=torch.long, device='cuda')\n"
    "for _ in range(9):\n    model(x, x)\n",
}


@pytest.mark.parametrize("what", AGAIN)
def test_another_training_behind_the_first_is_a_doubt(what: str, tmp_path: Path) -> None:
    found = explained(tmp_path, HEAD + AGAIN[what], card="rtx-4090")
    assert found["trust"] == "doubted"
    words = ("trained after the steps", "a later step trains")
    assert any(each in doubt for doubt in found["doubts"] for each in words)


@pytest.mark.parametrize(("what", "allocated"), list(zip(READ, TRACED, strict=True)))
def test_what_another_loop_trains_is_in_the_number(
    what: str, allocated: int, tmp_path: Path
) -> None:
    found = explained(tmp_path, HEAD + READ[what], "--torch-version=2.13", card="rtx-4090")
    assert (found["trust"], found["peak"]["allocated_bytes"]) == ("read", allocated)


@pytest.mark.parametrize("what", ONCE)
def test_one_training_is_read_without_a_doubt(what: str, tmp_path: Path) -> None:
    assert explained(tmp_path, HEAD + ONCE[what], card="rtx-4090")["trust"] == "read"
