"""Several processes of a script that never asks which of them it is share one card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """\
import os
import torch
import torch.distributed as dist
from torch import nn

ASKS
model = nn.Linear(512, 512).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(10):
    loss = model(torch.randn(32, 512, device=device)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
ASKS = {
    "a number": "device = f\"cuda:{int(os.environ['LOCAL_RANK'])}\"",
    "a default": "device = f\"cuda:{os.environ.get('SLURM_LOCALID', 0)}\"",
    "whether it is there": 'ddp = "RANK" in os.environ\ndevice = "cuda"',
    "the group": 'dist.init_process_group("nccl")\ndevice = f"cuda:{dist.get_rank()}"',
}


def doubts(folder: Path, asks: str, *words: str) -> list[str]:
    found: list[str] = explained(folder, SCRIPT.replace("ASKS", asks), *words).get("doubts", [])
    return found


def test_processes_that_do_not_ask_are_in_doubt(tmp_path: Path) -> None:
    device = 'device = "cuda" if torch.cuda.is_available() else "cpu"'
    (doubt,) = doubts(tmp_path, device, "--world-size=2")
    assert "tells 2 processes apart" in doubt
    assert doubts(tmp_path, device) == []


@pytest.mark.parametrize("asks", ASKS.values(), ids=ASKS)
def test_processes_that_ask_are_not(tmp_path: Path, asks: str) -> None:
    assert not any("processes apart" in each for each in doubts(tmp_path, asks, "--world-size=2"))
