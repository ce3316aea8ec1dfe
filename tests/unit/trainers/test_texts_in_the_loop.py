"""Batches of texts that a loop gives to a tokenizer itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from datasets import load_dataset
from torch import nn
from torch.utils.data import DataLoader
from transformers import AutoTokenizer
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(1000, 64)
        self.h = nn.Linear(64, 1000)
    def forward(self, x, y):
        return nn.functional.cross_entropy(self.h(self.e(x)).view(-1, 1000), y.view(-1))
tokenizer = AutoTokenizer.from_pretrained("gpt2")
loader = DataLoader(load_dataset("stories")["train"], batch_size=16, shuffle=True)
net = Net().cuda()
opt = torch.optim.AdamW(net.parameters())
for batch in loader:
    found = tokenizer(batch["text"], WORDS, return_tensors="pt")
    loss = net(found.PART, found.PART)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CUT = "truncation=True, max_length=128"
DOUBT = "assuming that a text is as long as its limit (train.py:19)"


def script(words: str, part: str = "to('cuda')['input_ids']") -> str:
    return SCRIPT.replace("WORDS", words).replace("found.PART", f"found.{part}")


@pytest.mark.parametrize("part", ["to('cuda')['input_ids']", "input_ids.cuda()"])
def test_filled_up_to_a_length(tmp_path: Path, part: str) -> None:
    found = explained(tmp_path, script(f"padding='max_length', {CUT}", part))
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert (found["run"]["batch_size"], found["run"]["block_size"]) == (16, 128)


def test_its_parts_are_listed_as_those_of_a_mapping(tmp_path: Path) -> None:
    text = script(f"padding='max_length', {CUT}", "PART").replace(
        "found.PART", "{name: part.cuda() for name, part in found.items()}['input_ids']"
    )
    found = explained(tmp_path, text)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert (found["run"]["batch_size"], found["run"]["block_size"]) == (16, 128)


def test_filled_up_to_the_longest(tmp_path: Path) -> None:
    found = explained(tmp_path, script(f"padding=True, {CUT}"))
    assert found["doubts"] == [DOUBT]
    assert (found["run"]["batch_size"], found["run"]["block_size"]) == (16, 128)


def test_of_any_length(tmp_path: Path) -> None:
    found = explained(tmp_path, script("padding=True"))
    assert found["trust"] != "read"


SAMPLED = """
import tiktoken
import torch
from torch import nn
net = nn.Sequential(nn.Embedding(1000, 64), nn.Linear(64, 1000)).cuda()
opt = torch.optim.AdamW(net.parameters())
encoder = tiktoken.get_encoding("gpt2")
for step in range(100):
    x = torch.randint(0, 1000, (16, 128)).cuda()
    loss = nn.functional.cross_entropy(net(x).view(-1, 1000), x.view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        net.eval()
        with torch.no_grad():
            EVALUATED
            found = torch.tensor([encoder.encode("Every effort moves you")]).cuda()
            net(found.repeat(TIMES, 1))
        net.train()
"""
LARGE = "net(torch.randint(0, 1000, (256, 128)).cuda())"


@pytest.mark.parametrize(
    ("evaluated", "times", "doubted"), [(LARGE, 1, False), ("pass", 2000, True)]
)
def test_how_long_a_prompt_is_matters_where_it_may_be_the_peak(
    tmp_path: Path, evaluated: str, times: int, *, doubted: bool
) -> None:
    text = SAMPLED.replace("EVALUATED", evaluated).replace("TIMES", str(times))
    doubts = explained(tmp_path, text)["doubts"]
    assert doubts == (["assuming that a text has 22 tokens (train.py:18)"] if doubted else [])
