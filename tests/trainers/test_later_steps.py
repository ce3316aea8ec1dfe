"""What a later step does otherwise: longer sequences, another loss, more that learns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.nn import functional as F

B, T, V = 8, 256, 8192

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, 128)
        self.inner = nn.Linear(128, 128)
        self.head = nn.Linear(128, V, bias=False)
    def forward(self, idx, targets):
        logits = self.head(F.gelu(self.inner(self.wte(idx))))
        return logits, F.cross_entropy(logits.view(-1, V), targets.view(-1))

model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
{loop}
    x = torch.randint(V, (B, t)).cuda()
    y = torch.randint(V, (B, t)).cuda()
    logits, loss = model(x, y)
{more}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
{end}
"""
PLAIN = "for step in range(500):\n    t = T"
SHORT = "t = 64 if step < 100 else T"


def told(folder: Path, loop: str = PLAIN, more: str = "", end: str = "") -> dict[str, Any]:
    return explained(folder, SCRIPT.format(loop=loop, more=more, end=end))


def peak(found: dict[str, Any]) -> int:
    return int(found["peak"]["allocated_bytes"])


@pytest.mark.parametrize(
    ("loop", "end"),
    [
        (f"for step in range(500):\n    {SHORT}", ""),
        (f"step = 0\nwhile step < 500:\n    {SHORT}", "    step += 1"),
        (f"step = 0\nwhile True:\n    {SHORT}", "    step += 1\n    if step > 500: break"),
    ],
)
def test_sequences_that_grow_are_counted_and_doubted(tmp_path: Path, loop: str, end: str) -> None:
    found = told(tmp_path, loop, end=end)
    assert peak(found) == peak(told(tmp_path))
    (doubt,) = found["doubts"]
    assert "a later step trains with 8x256 tokens, not 8x64 (" in doubt


@pytest.mark.parametrize("length", ["64 * (1 + epoch // 3)", "min(T, 64 + 64 * epoch)"])
def test_epochs_of_longer_sequences_are_a_doubt(tmp_path: Path, length: str) -> None:
    inner = "    for step in range(9):\n        "
    text = SCRIPT.format(loop=f"for epoch in range(10):\n    t = {length}", more="", end="")
    head, _, body = text.partition("    x = torch.randint")
    found = explained(
        tmp_path, head + inner + "x = torch.randint" + body.replace("\n    ", "\n        ")
    )
    assert any("a later step trains with 8x256 tokens" in each for each in found["doubts"])


def test_a_term_that_the_loss_has_later_is_counted(tmp_path: Path) -> None:
    aux = "loss = loss + logits.float().logsumexp(-1).square().mean()"
    later = told(tmp_path, more=f"    if step > 100:\n        {aux}")
    assert peak(later) == peak(told(tmp_path, more=f"    {aux}")) > peak(told(tmp_path))
    assert not later["doubts"]


def test_an_evaluation_of_the_last_step_alone_is_counted(tmp_path: Path) -> None:
    evaluate = (
        "    if step == 499:\n        model.eval()\n        with torch.no_grad():\n"
        "            model(x.repeat(40, 1), y.repeat(40, 1))\n        model.train()"
    )
    assert peak(told(tmp_path, more=evaluate)) > 40 * 8 * 256 * 8192 * 4


def test_what_is_frozen_until_later_is_counted(tmp_path: Path) -> None:
    frozen = f"model.wte.requires_grad_(False)\n{PLAIN}\n    if step > 100:\n"
    found = told(tmp_path, frozen + "        model.wte.requires_grad_(True)")
    assert (peak(found), found["doubts"]) == (peak(told(tmp_path)), [])


@pytest.mark.parametrize(
    "test", ["not torch.isfinite(loss)", "torch.isnan(loss).any() or torch.isinf(loss)"]
)
def test_a_loss_is_taken_for_a_number(tmp_path: Path, test: str) -> None:
    found = told(tmp_path, more=f"    if {test}:\n        continue")
    assert (peak(found), found["doubts"]) == (peak(told(tmp_path)), [])
