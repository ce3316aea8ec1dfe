"""Loops that accelerate prepares, in one process.

The figures are of PyTorch 2.13 with accelerate 1.15, traced (``nanolint trace``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self):
        return 4000
    def __getitem__(self, at):
        row = torch.randint(0, 1000, (129,))
        return {"x": row[:-1], "y": row[1:]}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(1000, 256)
        self.m = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))
        self.h = nn.Linear(256, 1000)
    def forward(self, x, y):
        x = self.e(x)
        logits = self.h(x + self.m(x))
        return logits, nn.functional.cross_entropy(logits.view(-1, 1000), y.view(-1))
accelerator = Accelerator(SETTINGS)
net = Net()
opt = torch.optim.AdamW(net.parameters())
loader = DataLoader(Rows(), batch_size=16, shuffle=True)
plan = torch.optim.lr_scheduler.LambdaLR(opt, lambda at: 1.0)
net, opt, loader, plan = accelerator.prepare(net, opt, loader, plan)
for epoch in range(3):
    for batch in loader:
        with accelerator.accumulate(net):
            logits, loss = net(batch["x"], batch["y"])
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            plan.step()
            opt.zero_grad()
    accelerator.print(loss.item())
"""


@pytest.mark.parametrize(
    ("precision", "allocated", "reserved"),
    [
        ("bf16", 78_505_472, 106_954_752),
        ("fp16", 78_506_496, 106_954_752),
        ("no", 90_556_416, 121_634_816),
    ],
)
def test_memory_as_traced(tmp_path: Path, precision: str, allocated: int, reserved: int) -> None:
    settings = f"mixed_precision={precision!r}, gradient_accumulation_steps=2"
    found = explained(tmp_path, SCRIPT.replace("SETTINGS", settings), "--torch-version", "2.13")
    assert (found["trust"], found["doubts"]) == ("read", [])
    peak = found["peak"]
    assert (peak["allocated_bytes"], peak["reserved_bytes"]) == (allocated, reserved)
    assert found["run"]["gradient_accumulation_steps"] == 2


def test_a_precision_that_nobody_says_is_a_doubt(tmp_path: Path) -> None:
    found = explained(tmp_path, SCRIPT.replace("SETTINGS", ""))
    assert found["doubts"] == ["accelerate is configured for no mixed precision"]


@pytest.mark.parametrize("settings", ["fsdp_plugin=plugin", "mixed_precision=plugin"])
def test_settings_that_are_not_known_are_not_passed_over(tmp_path: Path, settings: str) -> None:
    text = f"from elsewhere import plugin\n{SCRIPT.replace('SETTINGS', settings)}"
    found = explained(tmp_path, text)
    assert found["trust"] != "read"
    said = str(found["doubts"] + found["unresolved"])
    assert "accelerate" in said or "elsewhere" in said
