"""``torch.accelerator``, the name of PyTorch's tutorials for whatever card there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.nn import functional as F
device = DEVICE
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(1000, 64)
        self.head = nn.Linear(64, 1000, bias=False)
    def forward(self, x, y):
        x = self.head(self.wte(x))
        return F.cross_entropy(x.view(-1, 1000), y.view(-1))
model = Net().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    x = torch.randint(1000, (8, 128)).to(device)
    loss = model(x, x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
NAMED = "torch.accelerator.current_accelerator()"
OR_NONE = f'{NAMED}.type if torch.accelerator.is_available() else "cpu"'


@pytest.mark.parametrize("device", [NAMED, OR_NONE])
def test_the_accelerator_is_the_card(tmp_path: Path, device: str) -> None:
    plain = explained(tmp_path, SCRIPT.replace("DEVICE", "'cuda'"))
    found = explained(tmp_path, SCRIPT.replace("DEVICE", device))
    assert (found["trust"], found["peak"]) == ("read", plain["peak"])


def test_a_release_that_does_not_have_it(tmp_path: Path) -> None:
    script = SCRIPT.replace("DEVICE", OR_NONE)
    assert explained(tmp_path, script, "--torch-version", "2.5")["trust"] == "unknown"
