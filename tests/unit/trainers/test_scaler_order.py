"""The order of a GradScaler's calls, which PyTorch checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """import torch
from torch import nn
from torch.nn import functional as F

net = nn.Sequential(nn.Embedding(96, 32), nn.Linear(32, 96)).cuda()
optimizer = torch.optim.AdamW(net.parameters())
scaler = torch.amp.GradScaler("cuda", enabled={enabled})
for step in range(1000):
    x = torch.randint(96, (4, 8), device="cuda")
    loss = F.cross_entropy(net(x).flatten(0, 1), x.flatten())
    scaler.scale(loss).backward()
    {before}
    scaler.step(optimizer)
    {after}
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "scaler.unscale_(optimizer); scaler.unscale_(optimizer)",
            "scaler.update()",
            "unscale_() has already been called on this optimizer since the last update().",
        ),
        ("pass", "scaler.unscale_(optimizer)", "unscale_() is being called after step()."),
        ("scaler.step(optimizer)", "scaler.update()", "step() has already been called since"),
        ("pass", "scaler.update(); scaler.update()", "No inf checks were recorded prior to update"),
        ("scaler.unscale_(optimizer)", "scaler.update()", None),
        ("pass", "scaler.update()", None),
    ],
)
def test_it_is_checked_if_the_scaler_is_enabled(
    tmp_path: Path, before: str, after: str, said: str | None
) -> None:
    script = tmp_path / "train.py"
    for enabled in (True, False):
        text = SCRIPT.format(enabled=enabled, before=before, after=after)
        script.write_text(text, encoding="utf-8")
        done = nanolint(str(script), "--gpu=rtx-4090", "--select=NL1,NL6")
        assert done.status == (1 if said and enabled else 0)
        assert not (said and enabled) or f"{said}" in done.out
