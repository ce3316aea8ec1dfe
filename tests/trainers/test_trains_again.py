"""Scripts that train more than once: the first training's number is not that of the run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
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

def steps(model, optimizer, count, batch=8, length=64):
    for _ in range(count):
        x = torch.randint(0, 1000, (batch, length), device="cuda")
        loss = model(x, x)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
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
ONCE = {
    "in epochs": "model, optimizer = made(64)\nfor epoch in range(9):\n"
    "    steps(model, optimizer, 10)\n",
    "with something behind it": "model, optimizer = made(64)\nsteps(model, optimizer, 100)\n"
    "model.eval()\nwith torch.no_grad():\n"
    "    model(torch.zeros((1, 8), dtype=torch.long, device='cuda'), None)\n",
}


def explained(folder: Path, text: str) -> dict[str, Any]:
    path = folder / "train.py"
    path.write_text(HEAD + text, encoding="utf-8")
    found = nanolint("explain", str(path), "--gpu", "rtx-4090", "--format", "json")
    result: dict[str, Any] = json.loads(found.out)
    return result


@pytest.mark.parametrize("what", AGAIN)
def test_another_training_behind_the_first_is_a_doubt(what: str, tmp_path: Path) -> None:
    found = explained(tmp_path, AGAIN[what])
    assert found["trust"] == "doubted"
    assert any("trained behind the steps" in doubt for doubt in found["doubts"])


def test_epochs_of_one_training_are_none(tmp_path: Path) -> None:
    assert explained(tmp_path, ONCE["in epochs"])["trust"] == "read"


def test_an_evaluation_behind_it_is_none(tmp_path: Path) -> None:
    found = explained(tmp_path, ONCE["with something behind it"])
    assert not any("trained behind the steps" in doubt for doubt in found["doubts"])
