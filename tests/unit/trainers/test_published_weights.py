"""GPT-2's published weights are known by their names and shapes: what a script asserts of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from transformers import GPT2LMHeadModel
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(50257, 768)
        self.head = nn.Linear(768, 50257, bias=False)
    def forward(self, x):
        return self.head(self.wte(x))
def filled(net):
    theirs, own = GPT2LMHeadModel.from_pretrained("gpt2").state_dict(), net.state_dict()
    CHECK
    return net
model = filled(Net()).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(20):
    model(torch.randint(50257, (4, 256), device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ('assert len(theirs) == len(own), f"{len(theirs)} keys"', "AssertionError: 149 keys"),
        ('assert "wte.weight" in theirs', "AssertionError: 'wte.weight' in theirs"),
        (
            "assert own['head.weight'].shape == theirs['transformer.wpe.weight'].shape, 'shapes'",
            "AssertionError: shapes",
        ),
        ("own['head.weight'].copy_(theirs['head.weight'])", "KeyError: 'head.weight'"),
        ("own['head.weight'].copy_(theirs['lm_head.weight'])", None),
    ],
)
def test_a_script_ends_where_they_do_not_fit(tmp_path: Path, check: str, why: str | None) -> None:
    found = explained(tmp_path, SCRIPT.replace("CHECK", check))
    if why is None:
        assert found["trust"] == "read"
        return
    assert found["trust"] == "unknown"
    (only,) = found["unresolved"]
    assert only["reason"] == f"the script raises {why} (train.py:13)"
