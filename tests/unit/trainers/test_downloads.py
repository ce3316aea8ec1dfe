"""Texts that a script downloads itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
)
SCRIPT = """
import urllib.request
import requests
import torch
import torch.nn.functional as F
from torch import nn
address = "ADDRESS"
TAKES
characters = sorted(set(text))
numbers = {each: number for number, each in enumerate(characters)}
data = torch.tensor([numbers[each] for each in text])
V, B, T = len(characters), 16, 128
model = nn.Sequential(nn.Embedding(V, 64), nn.Linear(64, V, bias=False)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    places = torch.randint(len(data) - T, (B,))
    x = torch.stack([data[i:i + T] for i in places]).cuda()
    loss = F.cross_entropy(model(x).view(-1, V), x.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
WAYS = {
    "requests": "answer = requests.get(address, timeout=30)\nanswer.raise_for_status()\n"
    "text = answer.text",
    "urllib": "with urllib.request.urlopen(address) as answer:\n"
    "    text = answer.read().decode('utf-8')",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_characters_of_tiny_shakespeare_are_known(tmp_path: Path, way: str) -> None:
    found = explained(tmp_path, SCRIPT.replace("ADDRESS", ADDRESS).replace("TAKES", WAYS[way]))
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["components"]["parameters"] == 2 * 16_896  # of 65 x 64, in blocks of 512 bytes


def test_those_of_another_text_are_not(tmp_path: Path) -> None:
    text = SCRIPT.replace("ADDRESS", "https://example.com/words.txt")
    found = explained(tmp_path, text.replace("TAKES", WAYS["requests"]))
    assert len(found["left_open"]) == 1
