"""Loops over numbers that only a run tells, and tensors that are made of what they work out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import net

if TYPE_CHECKING:
    from pathlib import Path

MODEL = net(
    "return F.cross_entropy(self.head(self.wte(x)).view(-1, 1000), y.view(-1))",
)
SCRIPT = f"""
import torch, torch.nn as nn
batch_size = 8
from torch.nn import functional as F
{MODEL}model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
def distance(orders):
    found = []
    for row in orders.detach().cpu():
        inversions, values = 0, row.tolist()
        for i in range(len(values)):
            first = values[i]
            for j in range(i + 1, len(values)):
                if first > values[j]:
                    inversions += 1
        found.append(1.0 - 2.0 * inversions / len(values))
    return TENSOR
for step in range(100):
    x = torch.randint(1000, (batch_size, 128)).cuda()
    y = torch.randint(1000, (batch_size, 128)).cuda()
    orders = torch.stack([torch.randperm(COUNT, device="cuda") for _ in range(4)])
    if not torch.equal(torch.sort(orders, dim=-1).values, orders):
        raise ValueError("no permutation")
    spread = distance(orders)
    loss = model(x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TENSOR = 'torch.tensor(found, dtype=torch.float32, device="cuda")'


def _read(folder: Path, made: str = TENSOR, count: int = 1024) -> dict[str, object]:
    return explained(folder, SCRIPT.replace("TENSOR", made).replace("COUNT", str(count)))


def test_what_a_loop_counts_is_a_number_however_many_turns_it_has(tmp_path: Path) -> None:
    assert _read(tmp_path)["trust"] == "read"


@pytest.mark.parametrize(
    "made",
    [
        'torch.tensor(found, device="cuda")',  # of numpy's numbers it would be float64
        'torch.tensor([found[0] ** 0.5], dtype=torch.float32, device="cuda")',  # complex, perhaps
    ],
)
def test_what_may_be_no_such_number_makes_no_tensor(tmp_path: Path, made: str) -> None:
    assert _read(tmp_path, made)["trust"] != "read"


def test_tensors_of_other_shapes_are_not_equal(tmp_path: Path) -> None:
    script = SCRIPT.replace("TENSOR", TENSOR).replace("COUNT", "8")
    script = script.replace(".values, orders):", ".values, orders[:2]):")
    found = explained(tmp_path, script)
    assert found["trust"] == "unknown"
