"""Packages that a script may do without: where they decide, it is read without them, in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from torch import nn
try:
    from fastnorm import FusedNorm
    fused = True
except ImportError:
    fused = False
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(1000, 64)
        self.norm = NORM
        self.head = nn.Linear(64, 1000)
    def forward(self, x):
        return self.head(self.norm(self.wte(x)))
net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(100):
    x = torch.randint(0, 1000, (16, 128)).cuda()
    loss = nn.functional.cross_entropy(net(x).view(-1, 1000), x.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
OWN = "nn.LayerNorm(64)"


def test_what_decides_is_a_doubt(tmp_path: Path) -> None:
    text = SCRIPT.replace("NORM", f"FusedNorm(64) if fused else {OWN}")
    found = explained(tmp_path, text)
    assert found["doubts"] == ["assuming that fastnorm is not installed (train.py:4)"]
    assert found["peak"] == explained(tmp_path, SCRIPT.replace("NORM", OWN))["peak"]


def test_what_decides_nothing_is_none(tmp_path: Path) -> None:
    found = explained(tmp_path, SCRIPT.replace("NORM", OWN))
    assert (found["trust"], found["doubts"]) == ("read", [])


def test_a_script_that_needs_it_after_all_has_no_number(tmp_path: Path) -> None:
    found = explained(tmp_path, SCRIPT.replace("NORM", "FusedNorm(64)"))
    assert found["trust"] == "unknown"


def test_a_name_that_the_projects_own_module_lacks_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "norms.py").write_text("class Other:\n    pass\n", encoding="utf-8")
    text = f"from norms import Norm\n{SCRIPT.replace('NORM', OWN)}"
    found = explained(tmp_path, text)
    (why,) = found["unresolved"]
    assert why["reason"].startswith("the script raises ImportError: cannot import name 'Norm'")
