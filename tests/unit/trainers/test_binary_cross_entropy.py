"""The losses of autoencoders and of networks that tell true from made: PyTorch 2.13 traced each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
import torch.nn.functional as F
from torch import nn
net = nn.Sequential(nn.Linear(784, 784), nn.Sigmoid()).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x = torch.rand(4096, 784, device="cuda")
    y = net(x)
    loss = LOSS
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def read(folder: Path, loss: str) -> dict[str, int] | None:
    release = '[tool.nanolint]\ntorch-version = "2.13"\n'
    (folder / "pyproject.toml").write_text(release, "utf-8")
    peak = explained(folder, SCRIPT.replace("LOSS", loss), card="rtx-4090")["peak"]
    return peak and {name: peak[name] for name in ("allocated_bytes", "reserved_bytes")}


@pytest.mark.parametrize(
    "loss",
    [
        "F.binary_cross_entropy(y, x)",
        'F.binary_cross_entropy(y, x, reduction="sum")',
        "F.binary_cross_entropy(y.view(-1, 28, 28), x.view(-1, 28, 28), size_average=False)",
        "nn.BCELoss()(y, x)",
    ],
)
def test_loss_keeps_the_memory_of_its_elements(tmp_path: Path, loss: str) -> None:
    assert read(tmp_path, loss) == {"allocated_bytes": 99035136, "reserved_bytes": 130023424}


@pytest.mark.parametrize(
    "loss",
    ["F.binary_cross_entropy(y.t(), x.t())", "F.binary_cross_entropy(y, x, weight=x)"],
)
def test_what_was_held_to_nothing_is_not_known(tmp_path: Path, loss: str) -> None:
    assert read(tmp_path, loss) is None


def test_autocast_refuses_it(tmp_path: Path) -> None:
    loss = "0\n    with torch.autocast('cuda'):\n        loss = F.binary_cross_entropy(y, x)"
    assert read(tmp_path, loss) is None
