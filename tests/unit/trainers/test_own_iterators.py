"""Objects of a project that are their own iterators, as batches often are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import NET

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn
device = "cuda"
class Batches:
    def __init__(self, most):
        self.most = most
    def __iter__(self):
        self.left = self.most
        return self
    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return torch.randint(0, 1000, (16, 128))
"""
PLAIN = NET.replace("BATCH", "torch.randint(0, 1000, (16, 128))")
LOOPS = {
    "for": ("for step in range(100):", "for x in Batches(100):", "x = x.to(device)"),
    "next": (
        "for step in range(100):",
        "of = iter(Batches(100))\nwhile True:",
        "x = next(of).cuda()",
    ),
    "default": (
        "for step in range(100):",
        "of = iter(Batches(0))\nfor step in range(100):",
        "x = next(of, torch.zeros(16, 128, dtype=torch.long)).cuda()",
    ),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_batches_of_its_own(tmp_path: Path, loop: str) -> None:
    before, head, batch = LOOPS[loop]
    text = NET.replace(before, head).replace("x = BATCH.to(device)", batch)
    found = explained(tmp_path, f"{HEAD}{text}")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, f"{HEAD}{PLAIN}")["peak"]


SETTINGS = """
import yaml
with open("train/sizes.yaml") as f:
    sizes = yaml.safe_load(f)
"""


def test_settings_that_are_named_from_the_folder_above(tmp_path: Path) -> None:
    folder = tmp_path / "train"
    folder.mkdir()
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (folder / "sizes.yaml").write_text("rows: 16\nlength: 128\n", encoding="utf-8")
    batch = "torch.randint(0, 1000, (sizes['rows'], sizes['length']))"
    found = explained(folder, f"{HEAD}{SETTINGS}{NET.replace('BATCH', batch)}")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, f"{HEAD}{PLAIN}")["peak"]
