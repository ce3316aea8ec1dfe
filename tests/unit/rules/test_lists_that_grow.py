"""NL502: which list grows, and which is let go of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.lookup import find
from nanolint.linting import registry
from nanolint.linting.engine import lint
from nanolint.linting.setup import Setup

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """import torch
net = torch.nn.Linear(256, 256).cuda()
optimizer = torch.optim.AdamW(net.parameters())
losses, val_losses = [], []
for step in range(100):
    x = torch.randn(64, 256, device="cuda")
    loss = net(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
GROWS = "losses.append(x)"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ((GROWS,), [GROWS]),
        ((GROWS, "val_losses.append(step)"), [GROWS]),
        (("losses.append(step)", "val_losses.append(x)"), ["val_losses.append(x)"]),
        ((GROWS, "val_losses = []"), [GROWS]),
        ((GROWS, "losses = losses[-5:]"), []),
        ((GROWS, "losses[:] = losses[-5:]"), []),
        ((GROWS, "del losses[:-5]"), []),
        (("losses.append(x.cpu())",), []),
        (("losses.append(loss.item())",), []),
    ],
)
def test_the_line_of_the_list(tmp_path: Path, lines: tuple[str, ...], found: list[str]) -> None:
    rules = tuple(each for each in registry.load().rules if each.code == "NL502")
    setup = Setup(rules=rules, known_codes={}, targets=(find("rtx-4090"),))
    text = SCRIPT + "".join(f"    {line}\n" for line in lines)
    report = lint(text, tmp_path / "train.py", setup)
    told = [text[each.span.start : each.span.end] for each in report.diagnostics]
    assert told == found
