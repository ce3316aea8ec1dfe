"""Losses that say how they are reduced as programs did before ``reduction``; several samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
import torch
from torch.nn import functional as F
model = torch.nn.Linear(512, 2048).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    x = torch.randn(4096, 512, device="cuda")
    ids = torch.randint(0, 2048, (4096,), device="cuda")
    h = model(x)
    loss = (LOSS * 1.0).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
NOW = {
    "size_average=False": "reduction='sum'",
    "reduce=False": "reduction='none'",
    "size_average=True": "reduction='mean'",
    "reduce=True, size_average=False": "reduction='sum'",
    "reduce=False, size_average=False": "reduction='none'",
}
LOSSES = [
    "F.cross_entropy(h, ids, SAID)",
    "torch.nn.CrossEntropyLoss(SAID)(h, ids)",
    "torch.nn.NLLLoss(SAID)(h.log_softmax(-1), ids)",
    "F.mse_loss(h, h.detach() * 2, SAID)",
    "torch.nn.SmoothL1Loss(SAID)(h, h.detach() * 2)",
    "F.l1_loss(h, h.detach() * 2, SAID)",
]


def test_several_samples_of_rows_take_more_than_one(tmp_path: Path) -> None:
    drawn = "h + torch.multinomial(h.detach().softmax(-1), {}).sum()"
    one, two, again = (
        explained(tmp_path, TEXT.replace("LOSS", drawn.format(each)))["trust"]
        for each in ("1", "2", "2, replacement=True")
    )
    assert one == "read"
    assert "read" not in (two, again)
