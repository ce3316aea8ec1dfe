"""What Python's own functions hold of the items that they go through.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu rtx-4070``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """\
import torch
import torch.nn as nn
net = nn.Linear(256, 256).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def large(number):
    return torch.full((16, 512, 1024), float(number), device="cuda")

for step in range(5):
    ITEMS
    net(torch.ones(8, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("items", "traced"),
    [
        ("total = sum(large(each) * 2 for each in range(4))", (151_520_256, 169_869_312)),
        (
            "total = sum(map(lambda each: large(each) * 2, range(4)), start=large(1))",
            (185_074_688, 203_423_744),
        ),
    ],
)
def test_a_sum_lets_go_of_an_item_before_it_asks_for_the_next(
    tmp_path: Path, items: str, traced: tuple[int, int]
) -> None:
    found = explained(
        tmp_path, SCRIPT.replace("ITEMS", items), "--torch-version", "2.13", card="rtx-4070"
    )
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert (*found["peak"].values(),)[:2] == traced
