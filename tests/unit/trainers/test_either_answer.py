"""Functions that may answer in several ways, of which one is that there are no data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
BATCH = 32
def prepare():
    try:
        from datasets import load_dataset
    except ImportError:
        return None
    data = load_dataset("stories")
    try:
        return {"train": list(data["train"])}
    except Exception as error:
        print(error)
def train():
    model = torch.nn.Linear(64, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        loss = model(torch.randn(BATCH, 64, device="cuda")).sum()
        loss.backward()
        optimizer.step()
def main():
    if prepare() is None:
        print("no data")
        return
    train()
main()
"""


def test_training_is_reached_where_there_may_be_data(tmp_path: Path) -> None:
    found = explained(tmp_path, SCRIPT)
    assert (found["trust"], found["doubts"]) == ("read", [])
