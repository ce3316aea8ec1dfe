"""A script that trains on the CPU runs, whatever card is asked about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(10):
    net(torch.randn(2, 4)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("card", [("--gpu", "rtx-4090"), ()])
def test_it_says_so(tmp_path: Path, card: tuple[str, ...]) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, "utf-8")
    done = nanolint("check", str(script), *card)
    assert (done.status, "trains without a CUDA device\n" in done.out) == (0, True)
    found = json.loads(nanolint("check", str(script), *card, "--output-format=json-full").out)
    assert (found["next"]["action"], found["next"]["why"]) == (
        "run",
        "it trains without a CUDA device",
    )


def test_one_that_uses_a_card_elsewhere_is_not_known(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("for step", "other = torch.ones(9).to(device)\nfor step"))
    assert "1 run not checked" in nanolint("check", str(script), "--gpu", "rtx-4090").out


def test_what_is_not_known_of_it_is_said(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("net(", "torch.numel(net.weight); net("), "utf-8")
    found = json.loads(nanolint("check", str(script), "--output-format=json-full").out)
    assert found["next"]["action"] == "try"
    assert "not certain: torch.numel is not known" in found["next"]["why"]
