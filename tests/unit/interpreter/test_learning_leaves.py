"""What learns and is no parameter lives with the graph that leads to it, as autograd holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
import torch
model = torch.nn.Linear(512, 2048).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    h = model(torch.randn(4096, 512, device="cuda"))
    loss = (h * LEAF).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
LEAF = 4096 * 2048 * 4  # bytes


@pytest.mark.parametrize(
    "leaf",
    [
        "torch.zeros(4096, 2048, device='cuda', requires_grad=True)",
        "torch.zeros_like(h, requires_grad=True)",
        "torch.zeros(4096, 2048, device='cuda').requires_grad_()",
        "h.detach().clone().requires_grad_()",
    ],
)
def test_the_loss_holds_what_its_graph_leads_to(tmp_path: Path, leaf: str) -> None:
    held, let_go = (
        explained(tmp_path, text.replace("LEAF", leaf))["phases"]
        for text in (TEXT, TEXT.replace("    optimizer.zero_grad()\n", LETS_GO))
    )
    forward = [
        next(each["allocated_bytes"] for each in phases if each["name"] == "forward")
        for phases in (held, let_go)
    ]
    assert forward[0] - forward[1] >= 2 * LEAF - 1  # the tensor and its gradient


LETS_GO = "    optimizer.zero_grad()\n    del loss\n"


def test_other_memory_of_one_is_held_instead(tmp_path: Path) -> None:
    text = TEXT.replace("LEAF", "leaf").replace(
        "    loss = ",
        "    leaf = torch.zeros(4096, 2048, device='cuda', requires_grad=True)\n    loss = ",
    )
    moved = text.replace(
        "    optimizer.step()\n", "    leaf.data = leaf.data + 1\n    optimizer.step()\n"
    )
    assert explained(tmp_path, moved)["trust"] == "read"
