"""Tokens that a script gathers in a loop over a data set which is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import MODEL

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import tiktoken
import torch
import torch.nn.functional as F
from datasets import load_dataset
from torch import nn
device = "cuda"
encoding = tiktoken.get_encoding("gpt2")
class Data:
    def __init__(self):
        self.ids = []
"""
LOOP = """
model = Net().to(device)
COMPILED
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    places = torch.randint(0, len(data) - 128, (16,))
    x = torch.stack([data[i:i + 128] for i in places]).to(device)
    loss = model(x, x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
KNOWN = "data = torch.zeros(1 << 22, dtype=torch.long)\n"
FILLS = {
    "extended": """
ids = []
for row in load_dataset("stories", split="train"):
    tokens = encoding.encode(row["text"], allowed_special="all")
    ids.extend(tokens)
    ids.append(encoding.eot_token)
data = torch.tensor(ids, dtype=torch.long)
""",
    "added to": """
ids = []
for number, row in enumerate(load_dataset("stories", split="train")):
    ids += encoding.encode_ordinary(row["text"]) + [50256]
data = torch.tensor(ids)
""",
    "of an object": """
held = Data()
for row in load_dataset("stories", split="train"):
    held.ids.extend(encoding.encode(row["text"]))
data = torch.tensor(held.ids)
""",
}


@pytest.mark.parametrize("fill", FILLS)
def test_they_are_as_many_as_any_run_reads(tmp_path: Path, fill: str) -> None:
    found = explained(tmp_path, HEAD + FILLS[fill] + MODEL + LOOP.replace("COMPILED", ""))
    assert (found["trust"], found["doubts"]) == ("read", [])
    plain = explained(tmp_path, HEAD + KNOWN + MODEL + LOOP.replace("COMPILED", ""))
    assert found["peak"] == plain["peak"]


def test_a_model_that_is_compiled_under_try_is_compiled(tmp_path: Path) -> None:
    tried = """
try:
    model = torch.compile(model)
    print("compiled")
except Exception as error:
    print(error)
"""
    found = explained(tmp_path, HEAD + KNOWN + MODEL + LOOP.replace("COMPILED", tried))
    assert (found["trust"], found["run"]["compile"]) == ("read", True)
    plain = LOOP.replace("COMPILED", "model = torch.compile(model)")
    assert found["peak"] == explained(tmp_path, HEAD + KNOWN + MODEL + plain)["peak"]
