"""Modules that are made on the card, where their ``device`` says so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import net
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
CARD = "h200"
MADE = re.compile(r"(nn\.(?:Linear|LayerNorm|Embedding)\([^()]+)\)")


@pytest.mark.parametrize("move", ["", ".to(device)"])
def test_a_model_whose_parts_are_made_there_is_there(tmp_path: Path, move: str) -> None:
    moved = explained(tmp_path, BASE, card=CARD)
    text = MADE.sub(r"\1, device='cuda')", BASE).replace("GPT().to(device)", f"GPT(){move}")
    found = explained(tmp_path, text, card=CARD)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == moved["peak"]["allocated_bytes"]


def test_attention_is_made_there_too(tmp_path: Path) -> None:
    more = "self.more = nn.MultiheadAttention(C, 4, batch_first=True, device='cuda')\n        "
    text = BASE.replace("self.wte =", f"{more}self.wte =", 1)
    kept = text.replace("model = GPT().to(device)", "more = GPT().more\nmodel = GPT().to(device)")
    without = explained(tmp_path, text, card=CARD)["peak"]["allocated_bytes"]
    found = explained(tmp_path, kept, card=CARD)["peak"]["allocated_bytes"]
    assert found - without == 4 * (3 * 128 * 128 + 3 * 128 + 128 * 128 + 128)


MODEL = net(
    "x = self.wte(x)",
    "x = torch.where(x < 0, x.new_tensor(0.3), x)",
    "x = x * x.new_tensor([[0.1] * 64] * 128)",
    "k = x.new_tensor([1, 2], dtype=torch.long)",
    "x = self.head(x)",
    "return F.cross_entropy(x.view(-1, 1000), y.view(-1)) + k.sum()",
)
NUMBERS = f"""
import torch
import torch.nn.functional as F
from torch import nn
device = "cuda"
torch.use_deterministic_algorithms(False)
{MODEL}model = Net().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    x = torch.randint(0, 1000, (16, 128)).to(device)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(x, x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
ALLOCATED = 39_627_264  # bytes, by PyTorch 2.13


def test_numbers_are_put_where_a_tensor_is(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.13\n")
    found = explained(tmp_path, NUMBERS)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == ALLOCATED


def test_those_that_were_taken_from_a_tensor_need_not_be_known(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.13\n")
    taken = "scale = float(model.head.weight.square().mean().sqrt())\n"
    text = NUMBERS.replace("optimizer =", f"{taken}optimizer =").replace("(0.3)", "(2 * scale)")
    found = explained(tmp_path, text)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == ALLOCATED
