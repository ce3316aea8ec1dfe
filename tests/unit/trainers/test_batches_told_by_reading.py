"""Batches whose sizes no value of the script says: the reading of the whole script tells them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained
from tests.unit.trainers.small_net import MODEL

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = f"""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
B, T = 8, 64
{MODEL}data = np.memmap("train.bin", dtype=np.uint16, mode="r")
PLACES
model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    rows = [torch.from_numpy(data[at : at + T].astype(np.int64)) for at in places()]
    x = torch.stack(rows).cuda()
    loss = model(x, x) / PASSES
    loss.backward()
    if STEPS:
        optimizer.step()
        optimizer.zero_grad()
"""
PLAIN = "places = lambda: torch.randint(len(data) - T, (B,))"
# What only Python's own statements make of it.
DRAWN = """
drawn = [[0] * B for _ in range(1000)]
def places():
    return drawn.pop()
"""
EVERY, SOME = ("True", "1"), ("due.pop()", "2")


def script(places: str, steps: tuple[str, str] = EVERY) -> str:
    text = SCRIPT.replace("PLACES", places).replace("STEPS", steps[0])
    return text.replace("PASSES", steps[1])


def test_sizes_that_only_the_reading_tells(tmp_path: Path) -> None:
    found, plain = (explained(tmp_path, script(each)) for each in (DRAWN, PLAIN))
    assert (found["trust"], found["doubts"], found["peak"]) == ("read", [], plain["peak"])
    sizes = ("batch_size", "block_size", "gradient_accumulation_steps", "tokens_per_iter")
    assert [found["run"][key] for key in sizes] == [8, 64, 1, 512]


def test_passes_that_only_the_reading_tells(tmp_path: Path) -> None:
    due = f"due = [True, False] * 500\n{PLAIN}"
    found = explained(tmp_path, script(due, SOME))
    assert (found["trust"], found["run"]["gradient_accumulation_steps"]) == ("read", 2)


def test_a_script_that_cannot_be_read_says_why_and_what_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(script("from elsewhere import places"), encoding="utf-8")
    done = nanolint("check", str(path), "--gpu", "rtx-4070")
    assert "Not checked: " in done.out
    assert "elsewhere is not a module of the project" in " ".join(done.out.split())


@pytest.mark.parametrize("rows", [8, 12])
def test_fit_tries_no_other_micro_batch(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "train.py"
    path.write_text(script(DRAWN).replace("B, T = 8", f"B, T = {rows}"), encoding="utf-8")
    done = nanolint("fit", str(path), "--gpu", "rtx-4070", "--format", "json")
    (card,) = json.loads(done.out)["cards"]
    assert card["fit"]["batch_size"] == rows
