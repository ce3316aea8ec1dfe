"""Modules that are made on the card, where their ``device`` says so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
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
