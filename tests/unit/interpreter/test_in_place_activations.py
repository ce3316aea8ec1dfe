"""Activations and dropout that write into what they are given.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu rtx-4070``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
GELU = "F.gelu(self.up(x))"
COMPILED = "model = GPT().to(device)\nmodel = torch.compile(model)\n"


def peaks(folder: Path, text: str) -> tuple[int, int]:
    found = explained(folder, text, "--torch-version", "2.13", card="rtx-4070")
    assert (found["trust"], found["doubts"]) == ("read", []), found
    return found["peak"]["allocated_bytes"], found["peak"]["reserved_bytes"]


@pytest.mark.parametrize(
    ("activation", "traced"),
    [
        ("F.leaky_relu(self.up(x), inplace=True)", (69_101_056, 90_177_536)),
        ("nn.LeakyReLU(inplace=True)(self.up(x))", (69_101_056, 90_177_536)),
        ("nn.ELU(inplace=True)(self.up(x))", (69_101_056, 90_177_536)),
        ("nn.ReLU(inplace=True)(self.up(x))", (69_101_056, 90_177_536)),
        ("F.silu(self.up(x), inplace=True)", (75_392_512, 90_177_536)),
        ("F.mish(self.up(x), inplace=True)", (75_392_512, 90_177_536)),
        ("nn.ReLU6(inplace=True)(self.up(x))", (75_392_512, 90_177_536)),
        ("nn.Hardswish(inplace=True)(self.up(x))", (75_392_512, 90_177_536)),
        ("nn.Dropout(0.1, inplace=True)(F.gelu(self.up(x)))", (81_683_968, 111_149_056)),
    ],
)
def test_what_works_in_place_keeps_its_result_or_a_copy_of_what_it_had(
    tmp_path: Path, activation: str, traced: tuple[int, int]
) -> None:
    assert peaks(tmp_path, BASE.replace(GELU, activation)) == traced
