"""Scripts of which no value is the micro-batch, or whose model is no class of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """\
import torch, torch.nn as nn
import torch.nn.functional as F
from pathlib import Path
{before}
model = nn.Sequential(nn.Embedding(1000, 64), nn.Linear(64, 1000)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
{batches}
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
RANDOM = """\
for step in range(100):
    x = torch.randint(1000, (B, T), device="cuda")
    y = torch.randint(1000, (B, T), device="cuda")"""
GIVEN = "B, T = 8, 128"
LOADER = """\
def shard(file):
    header = torch.from_file(str(file), False, 256, dtype=torch.int32)
    count = int(header[2])
    with file.open("rb", buffering=0) as opened:
        tokens = torch.empty(count, dtype=torch.uint16, pin_memory=True)
        opened.seek(256 * 4)
        assert opened.readinto(tokens.numpy()) == 2 * count
    return tokens
def batches(count, T):
    files = iter(sorted(Path.cwd().glob("train_*.bin")))
    tokens, at = shard(next(files)), 0
    while True:
        if at + count + 1 >= len(tokens):
            tokens, at = shard(next(files)), 0
        some = tokens[at:][:count + 1]
        x = some[:-1].to(device="cuda", dtype=torch.int64, non_blocking=True)
        y = some[1:].to(device="cuda", dtype=torch.int64, non_blocking=True)
        at += count
        yield x.view(-1, T), y.view(-1, T)
"""


def script(before: str = GIVEN, batches: str = RANDOM) -> str:
    return SCRIPT.format(before=before, batches=batches)


@pytest.mark.parametrize("written", ["total = 1024\nT = 128\nB = total // T", "B = 4 + 4\nT = 128"])
def test_a_batch_that_is_worked_out_takes_what_the_same_one_takes_that_is_given(
    tmp_path: Path, written: str
) -> None:
    given, worked_out = explained(tmp_path, script()), explained(tmp_path, script(written))
    assert (given["trust"], worked_out["trust"]) == ("read", "read")
    assert given["peak"] == worked_out["peak"]


def test_a_loader_that_takes_the_length_of_a_file_from_its_header_is_read(tmp_path: Path) -> None:
    loop = "for step, (x, y) in zip(range(100), batches(1024, 128)):"
    found = explained(tmp_path, script(LOADER, loop))
    given = explained(tmp_path, script())
    assert found["trust"] == "read"
    assert found["peak"] == given["peak"]


def test_what_a_required_flag_is_given_is_not_known(tmp_path: Path) -> None:
    flags = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--text", type=Path, required=True)
words = parser.parse_args().text.read_text().split()
B, T = 8, 128
size = len(words)
"""
    found = explained(tmp_path, script(flags).replace("Embedding(1000", "Embedding(size"))
    assert found["trust"] == "unknown"
    assert "NoneType" not in str(found)
