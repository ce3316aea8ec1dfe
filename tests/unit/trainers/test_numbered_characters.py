"""Texts whose characters a class of the script's own numbers, and where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
B, T = 16, 32
class Characters:
    def __init__(self, text):
        known = sorted(set(text))
        self.size = len(known)
        self.table = {each: at for at, each in enumerate(known)}
    def encode(self, text):
        return [self.table[each] for each in text]
text = open("words.txt").read()
characters = Characters(text)
data = torch.tensor(characters.encode(text))
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.wte = nn.Embedding(size, 64)
        self.head = nn.Linear(64, size)
    def forward(self, x):
        x = self.head(self.wte(x))
        return x.logsumexp(-1).mean()
model = Net(characters.size).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    at = torch.randint(0, len(data) - T, (B,))
    x = torch.stack([data[i : i + T] for i in at]).cuda()
    model(x).backward()
    optimizer.step()
    optimizer.zero_grad()
"""
TEXT = "The quick brown fox jumps over the lazy dog. " * 40
PLAIN = "self.table[each] for each in text"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (PLAIN, "self.table.get(each, 0) for each in text"),
        (PLAIN, f"{PLAIN} if each in self.table"),
        ("(B,))", "(B,), device='cuda')"),  # where windows begin lies on the card
    ],
)
def test_characters_may_be_numbered_in_other_words(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "words.txt").write_text(TEXT, encoding="utf-8")
    known, found = (explained(tmp_path, each) for each in (SCRIPT, SCRIPT.replace(before, after)))
    assert (known["trust"], found["trust"]) == ("read", "read")
    more = found["peak"]["allocated_bytes"] - known["peak"]["allocated_bytes"]
    assert more in range(1025)


def test_a_text_that_is_not_here(tmp_path: Path) -> None:
    """It fits, however many characters the text has; on a small card that decides."""
    found = explained(tmp_path, SCRIPT, card="rtx-4090")
    assert (found["trust"], found["doubts"]) == ("read", [])
    (left,) = found["left_open"]
    assert "for words.txt (train.py:6)" in left
    at_most = explained(tmp_path, SCRIPT, "--set", "vocab_size=8192", card="rtx-4090")
    assert (at_most["trust"], at_most["left_open"]) == ("read", [])
    small = explained(tmp_path, SCRIPT, card="0.2GiB")
    assert [each.partition(" for ")[2] for each in small["doubts"]] == ["words.txt (train.py:6)"]


def test_characters_that_are_counted_for_people_alone(tmp_path: Path) -> None:
    script = SCRIPT.replace("Net(characters.size)", "Net(512)").replace(
        "data = torch", "print(characters.size)\ndata = torch"
    )
    found = explained(tmp_path, script)
    assert (found["trust"], found["doubts"], found["left_open"]) == ("read", [], [])


def test_its_run_is_that_of_a_text_with_as_many(tmp_path: Path) -> None:
    missing = explained(tmp_path, SCRIPT)["peak"]
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 67))) * 40
    (tmp_path / "words.txt").write_text(text, encoding="utf-8")
    assert explained(tmp_path, SCRIPT)["peak"] == missing


@pytest.mark.parametrize("has_another", [False, True])
def test_a_text_lies_where_the_script_is_run(tmp_path: Path, has_another: bool) -> None:
    """In a folder above the script's; of two that differ nobody knows which one it is."""
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "words.txt").write_text(TEXT, encoding="utf-8")
    inner = tmp_path / "scripts"
    inner.mkdir()
    if has_another:
        (inner / "words.txt").write_text(f"{TEXT}0123456789", encoding="utf-8")
    assert bool(explained(inner, SCRIPT)["left_open"]) is has_another
