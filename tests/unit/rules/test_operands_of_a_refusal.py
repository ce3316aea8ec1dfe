"""A refused operation points at the lines that its operands come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.gpus.lookup import find
from nanolint.linting import registry
from nanolint.linting.engine import lint
from nanolint.linting.setup import Setup

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """import torch
from torch import nn

class Turn(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(IN, 32)
        self.register_buffer("cos", torch.ones(TABLE))

    def forward(self, x):
        half = x.chunk(2, -1)[0]
        return half * self.cos + self.proj(half)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(96, 64)
        self.proj = nn.Linear(64, 64)
        self.turn = Turn()

    def forward(self, tokens):
        seen = self.proj(self.embed(tokens))
        return self.turn(seen)

net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randint(96, (4, 8), device="cuda")
    loss = net(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def made(text: str, folder: Path) -> dict[str, str]:
    setup = Setup(registry.load().rules, known_codes={}, targets=(find("rtx-4090"),))
    (found,) = lint(text, folder / "train.py", setup).diagnostics
    assert found.code == "NL601"
    begins = "makes "
    return {
        each.source.strip(): each.message.removeprefix(begins)
        for each in found.holders
        if each.message.startswith(begins)
    }


def test_a_local_name_and_a_buffer(tmp_path: Path) -> None:
    text = SCRIPT.replace("IN", "32").replace("TABLE", "7")
    places = made(text, tmp_path)
    assert list(places) == [
        "half = x.chunk(2, -1)[0]",
        'self.register_buffer("cos", torch.ones(7))',
    ]
    assert next(iter(places.values())).endswith("(4, 8, 32)")


def test_a_weight_stands_where_its_layer_is_made(tmp_path: Path) -> None:
    """That of the class that has it: another has an attribute of that name, too."""
    places = made(SCRIPT.replace("IN", "48").replace("TABLE", "32"), tmp_path)
    assert "self.proj = nn.Linear(48, 32)" in places
