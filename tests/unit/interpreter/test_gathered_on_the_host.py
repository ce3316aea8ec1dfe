"""Loops that put tensors of the host into lists: as many as they have turns, also where not all of
the turns are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import net

if TYPE_CHECKING:
    from pathlib import Path

MODEL = net(
    "out = self.head(self.wte(x))",
    "return out, F.cross_entropy(out.view(-1, 1000), y.view(-1))",
)
SCRIPT = f"""
import torch, torch.nn as nn
from torch.nn import functional as F
batch_size = 8
{MODEL}model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
def batch():
    x = torch.randint(1000, (batch_size, 128)).cuda()
    return x, torch.randint(1000, (batch_size, 128)).cuda()
@torch.no_grad()
def curves():
    rows = []
    for _ in range(60):
        x, y = batch()
        out, _ = model(x, y)
        rows.append(out.view(-1)PUT)
    return KEPT
kept = curves()
for step in range(100):
    x, y = batch()
    _, loss = model(x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def _peak(folder: Path, put: str, kept: str) -> int:
    found = explained(folder, SCRIPT.replace("PUT", put).replace("KEPT", kept))
    assert found["trust"] == "read"
    peak: int = found["peak"]["allocated_bytes"]
    return peak


@pytest.mark.parametrize("put", [".float().cpu()", "[:500_000].cpu()"])
def test_what_is_made_of_them_on_the_card_is_as_long_as_the_loop(tmp_path: Path, put: str) -> None:
    size = 500_000 if "500" in put else 8 * 128 * 1000
    with_rows = _peak(tmp_path, put, "torch.stack(rows).cuda()")
    assert with_rows - _peak(tmp_path, put, "None") >= 60 * size * 4 - 2 * size * 4
    zeros = f'torch.zeros(60, {size}, device="cuda")'
    assert with_rows == _peak(tmp_path, put, zeros)


def test_those_of_the_card_are_all_held_there(tmp_path: Path) -> None:
    more = _peak(tmp_path, "[:500_000].clone()", "rows") - _peak(tmp_path, ".cpu()", "None")
    assert more >= 59 * 500_000 * 4
