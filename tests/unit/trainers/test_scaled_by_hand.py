"""Tensors that are scaled by a number of the card's, which only a run tells.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu a100-80gb``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(1000, 256)
        self.h = nn.Linear(256, 1000)
    def forward(self, x):
        return self.h(self.e(x))
def clip(parameters, most):
    having = [p for p in parameters if p.grad is not None]
    total = 0.0
    for p in having:
        total += torch.norm(p.grad.detach(), p=2).item() ** 2
    total = total ** 0.5
    if total > most:
        rate = most / (total + 1e-6)
        for p in having:
            SCALED
net = Net().cuda()
opt = torch.optim.AdamW(net.parameters())
for step in range(100):
    x = torch.randint(0, 1000, (16, 128)).cuda()
    loss = nn.functional.cross_entropy(net(x).view(-1, 1000), x.view(-1))
    opt.zero_grad()
    loss.backward()
    clip(net.parameters(), 1.0)
    opt.step()
"""


@pytest.mark.parametrize("scaled", ["p.grad.detach().mul_(rate)", "p.grad.data.div_(1 / rate)"])
def test_clipping_by_hand(tmp_path: Path, scaled: str) -> None:
    found = explained(tmp_path, SCRIPT.replace("SCALED", scaled), "--torch-version", "2.13")
    assert (found["trust"], found["doubts"]) == ("read", [])
    peak = found["peak"]
    assert (peak["allocated_bytes"], peak["reserved_bytes"]) == (53_011_968, 90_177_536)


def test_a_branch_that_makes_more_is_not_read(tmp_path: Path) -> None:
    text = SCRIPT.replace("SCALED", "p.kept = torch.zeros(1 << 20, device='cuda') * rate")
    assert explained(tmp_path, text)["trust"] == "unknown"
