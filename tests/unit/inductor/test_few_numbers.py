"""What compiled models do with few numbers, casts and random numbers of their own, by PyTorch 2.15.

The bytes are what PyTorch 2.15 allocates for these scripts on an RTX 4090.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
import torch
import torch.nn.functional as F
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(256, 1024), nn.Linear(1024, 256)
    def forward(self, x):
        h = self.first(x)
        return self.last(WHAT).square().mean()
model = Model().cuda()
compiled = torch.compile(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = compiled(torch.randn(2048, 256, device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
KNOWN = {
    "h.view(2048, 4, 256).softmax(1).flatten(1)": 32_643_072,
    "(h.view(2048, 4, 256) * 0.1).softmax(1).flatten(1)": 32_643_072,
    "(h.view(2048, 256, 4) * 0.1).softmax(2).flatten(1)": 32_643_072,
    "h * torch.empty_like(h).bernoulli_(0.9)": 26_352_640,
    "h * h.new_empty(2048, 1).bernoulli_(0.9).div_(0.9)": 24_257_536,
    "h + torch.zeros_like(h).normal_(0, 0.1)": 24_255_488,
    "h * torch.bernoulli(torch.sigmoid(h.detach()))": 26_352_640,
}


@pytest.mark.parametrize("what", KNOWN)
def test_what_it_allocates(tmp_path: Path, what: str) -> None:
    found = explained(tmp_path, TEXT.replace("WHAT", what), card="rtx-4090")
    assert found["peak"]["allocated_bytes"] == KNOWN[what]
    assert not any("compile" in each for each in found["doubts"])


@pytest.mark.parametrize("name", ["uniform_", "random_"])
def test_what_is_drawn_otherwise_is_not_known(tmp_path: Path, name: str) -> None:
    text = TEXT.replace("WHAT", f"h + torch.zeros_like(h).{name}()")
    found = explained(tmp_path, text, card="rtx-4090")
    assert found["trust"] == "unknown"
    assert f"torch.compile of {name}" in found["unresolved"][0]["reason"]
