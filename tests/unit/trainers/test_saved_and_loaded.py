"""Weights that a script saves and loads again: they come back to where they lay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.nn import functional as F
ROWS = 2
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(1000, 512)
        self.up = nn.Linear(512, 2048)
        self.down = nn.Linear(2048, 512)
        self.head = nn.Linear(512, 1000, bias=False)
        self.head.weight = self.wte.weight
    def forward(self, x, y):
        x = self.head(self.down(F.gelu(self.up(self.wte(x)))))
        return F.cross_entropy(x.view(-1, 1000), y.view(-1))
model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    x = torch.randint(1000, (ROWS, 16)).cuda()
    loss = model(x, x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 1:
        torch.save(model.state_dict(), "model.pth")
        other = Net().cuda()
        other.load_state_dict(torch.load("model.pth"))
        del other
"""
ON_THE_HOST = 10_446_848  # less: the weights, each once


def test_they_lie_on_the_card_until_they_are_taken(tmp_path: Path) -> None:
    """As ``nanolint trace`` has it where files are written: PyTorch 2.13, an A100."""
    found = explained(tmp_path, SCRIPT, "--torch-version", "2.13", card="a100-80gb")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == 79_721_472
    assert found["peak"]["reserved_bytes"] == 85_983_232


@pytest.mark.parametrize(
    ("saved", "loaded"),
    [
        ("model.state_dict()", 'torch.load("model.pth", map_location="cpu")'),
        ("{k: v.cpu() for k, v in model.state_dict().items()}", 'torch.load("model.pth")'),
    ],
)
def test_those_of_the_host_take_nothing_of_the_card(
    tmp_path: Path, saved: str, loaded: str
) -> None:
    text = SCRIPT.replace("model.state_dict()", saved).replace('torch.load("model.pth")', loaded)
    found = explained(tmp_path, text, "--torch-version", "2.13", card="a100-80gb")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == 79_721_472 - ON_THE_HOST


@pytest.mark.parametrize(
    ("words", "others"),
    [
        ('torch.load("model.pth")', 'torch.load("another.pth")'),
        ("torch.save(model.state_dict(), ", "torch.save([model.state_dict()], "),
    ],
)
def test_a_file_of_which_more_is_not_known_is_a_doubt(
    tmp_path: Path, words: str, others: str
) -> None:
    found = explained(tmp_path, SCRIPT.replace(words, others))
    assert found["trust"] == "doubted"
    assert "where they were saved from" in found["doubts"][0]


STATES = """
import copy
import torch
from torch import nn
model = nn.Sequential(nn.Embedding(5120, 512), nn.Linear(512, 5120)).cuda()
opt = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
def step():
    x = torch.randint(5120, (8, 64), device="cuda")
    loss = nn.functional.cross_entropy(model(x).view(-1, 5120), x.view(-1))
    loss.backward()
    opt.step()
    opt.zero_grad()
first = copy.deepcopy(opt.state_dict())
step()
# KEPT
for i in range(20):
    step()
"""


@pytest.mark.parametrize(
    ("lines", "allocated", "reserved"),
    [
        ("kept = copy.deepcopy(opt.state_dict())", 204_582_912, 207_618_048),
        (
            "kept = copy.deepcopy(opt.state_dict())\nopt.load_state_dict(kept)",
            172_072_448,
            176_160_768,
        ),
        ("opt.load_state_dict(first)", 162_597_376, 165_675_008),
    ],
)
def test_an_optimizer_s_state_has_no_parameters_and_is_taken_as_it_is(
    tmp_path: Path, lines: str, allocated: int, reserved: int
) -> None:
    """As ``nanolint trace`` has it: PyTorch 2.13, an H100."""
    text = STATES.replace("# KEPT", lines)
    found = explained(tmp_path, text, "--torch-version", "2.13", card="h100")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == allocated
    assert found["peak"]["reserved_bytes"] == reserved


def test_an_optimizer_takes_the_state_of_as_many_groups_alone(tmp_path: Path) -> None:
    lines = "opt.load_state_dict(torch.optim.Adam([model[0].weight]).state_dict())"
    found = explained(tmp_path, STATES.replace("# KEPT", lines))
    assert "match the size of optimizer's group" in found["unresolved"][0]["reason"]
