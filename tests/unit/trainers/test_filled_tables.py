"""Tables that a layer fills element by element, and what it makes on the host and does not use.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu rtx-4090``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
import numpy as np
B, T, C = 16, 32, 64
class Gate(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate = nn.Linear(size, size)
        self.beta = torch.randn(1, requires_grad=True)
        self.beta = nn.Parameter(torch.ones(1))
        self.register_parameter("beta", self.beta)
    def forward(self, x):
        return self.gate(x) * torch.sigmoid(self.beta * self.gate(x))
class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.R = self.rotations(T, C)
        self.gate = Gate(C)
    def rotations(self, length, width):
        R = torch.zeros((length, width, width), requires_grad=False)
        for at in range(length):
            for i in range(width // 2):
                speed = 10000.0 ** (-2.0 * (i - 1) / width)
                angle = at * speed
                R[at, 2 * i, 2 * i] = np.cos(angle)
                R[at, 2 * i, 2 * i + 1] = -np.sin(angle)
                R[at, 2 * i + 1, 2 * i] = np.sin(angle)
                R[at, 2 * i + 1, 2 * i + 1] = np.cos(angle)
        return R
    def forward(self, x):
        turned = torch.bmm(x.transpose(0, 1), self.R.to(x.device)).transpose(0, 1)
        return self.gate(turned)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(65, C)
        self.blocks = nn.ModuleList([Turned() for _ in range(8)])
        self.head = nn.Linear(C, 65)
    def forward(self, x):
        x = self.wte(x)
        for each in self.blocks:
            x = each(x)
        return self.head(x).logsumexp(-1).mean()
model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    x = torch.randint(0, 65, (B, T)).cuda()
    model(x).backward()
    optimizer.step()
    optimizer.zero_grad()
"""
CASTING = """
import torch, torch.nn as nn
from torch.amp.autocast_mode import autocast
from torch.amp.grad_scaler import GradScaler
model = nn.Sequential(nn.Embedding(65, 64), nn.Linear(64, 65)).cuda()
model.start = nn.Parameter(torch.normal(0.0, 0.02, size=(1, 1, 64)).cuda())
optimizer = torch.optim.AdamW(model.parameters())
scaler = GradScaler("cuda")
for step in range(100):
    x = torch.randint(0, 65, (16, 32)).cuda()
    with autocast(device_type="cuda", dtype=torch.float16):
        noise = torch.normal(mean=0, std=1, size=(16, 32, 64), device="cuda")
        loss = model(x).logsumexp(-1).mean() + noise.mean() * model.start.sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
"""
MADE = 'self.beta = nn.Parameter(torch.ones(1))\n        self.register_parameter("beta", self.beta)'


def peaks(folder: Path, text: str) -> tuple[int, int]:
    found = explained(folder, text, "--torch-version=2.13", card="rtx-4090")
    assert (found["trust"], found["doubts"]) == ("read", [])
    return found["peak"]["allocated_bytes"], found["peak"]["reserved_bytes"]


@pytest.mark.parametrize("package", ["torch.amp", "torch.cuda.amp"])
def test_casting_goes_by_the_names_of_its_modules(tmp_path: Path, package: str) -> None:
    text = CASTING
    if package == "torch.cuda.amp":
        text = text.replace("torch.amp", package).replace('device_type="cuda", ', "")
        text = text.replace('GradScaler("cuda")', "GradScaler()")
    assert peaks(tmp_path, text) == (17_892_864, 23_068_672)
