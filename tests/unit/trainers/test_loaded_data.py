"""What a script trains on by a DataLoader, read whole: samples that are known, and that are not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import BatchSampler, Dataset, RandomSampler, Subset
from torch.utils.data.dataloader import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torch.nn.utils.rnn import pad_sequence
{imports}

class Net(nn.Module):
    def __init__(self, vocab_size, block_size, width=64):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, width)
        self.wpe = nn.Embedding(block_size, width)
        self.head = nn.Linear(width, vocab_size)

    def forward(self, idx, targets):
        at = torch.arange(idx.size(1), device=idx.device)
        logits = self.head(self.wte(idx) + self.wpe(at))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

class Windows(Dataset):
    def __init__(self, width):
        self.width = width
    def __len__(self):
        return {count}
    def __getitem__(self, i):
        {sample}

def collate(batch):
    xs, ys = zip(*batch)
    return nn.utils.rnn.pad_sequence(xs, True), pad_sequence(ys, batch_first=True, padding_value=-1)

data = Windows({length})
loader = DataLoader({loaded})
model = Net(1000, 48).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for epoch in range(3):
    for x, y in loader:
        loss = model({passed})
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KNOWN = "ids = torch.zeros(self.width + 1, dtype=torch.long)\n        return ids[:-1], ids[1:]"
NOT_KNOWN = "ids = tokens.of(i)\n        return ids[:-1], ids[1:]"


def explained(folder: Path, *words: str, **parts: str) -> dict[str, Any]:
    given = {
        "imports": "",
        "sample": KNOWN,
        "length": "48",
        "loaded": "data, batch_size=16",
        "count": "1000",
        "passed": "x.cuda(), y.cuda()",
    }
    path = folder / "train.py"
    path.write_text(SCRIPT.format(**{**given, **parts}), encoding="utf-8")
    found = nanolint("explain", str(path), "--gpu", "rtx-4090", "--format", "json", *words)
    result: dict[str, Any] = json.loads(found.out)
    return result


PLAIN = "data, batch_size=16"
AS_MANY = {
    "by its position": "data, 16, True",
    "a sampler": "data, batch_size=16, sampler=RandomSampler(data)",
    "a sampler of processes": "data, batch_size=16, sampler=DistributedSampler(data)",
    "a sampler of batches": "data, batch_sampler=BatchSampler(RandomSampler(data), 16, False)",
    "padding": "data, batch_size=16, collate_fn=collate",
    "a part of the data": "Subset(data, range(500)), batch_size=16",
}


@pytest.mark.parametrize("how", AS_MANY)
def test_a_loader_takes_as_much_whatever_draws_the_samples(how: str, tmp_path: Path) -> None:
    plain, other = (explained(tmp_path, loaded=each) for each in (PLAIN, AS_MANY[how]))
    assert plain["trust"] == other["trust"] == "read"
    assert plain["peak"] == other["peak"]


def test_a_number_in_the_loader_itself_can_be_another(tmp_path: Path) -> None:
    found, more = explained(tmp_path), explained(tmp_path, "--set", "batch_size=64")
    assert found["roles"]["micro-batch"]["value"] == 16
    assert more["roles"]["micro-batch"]["value"] == 64
    assert more["peak"]["allocated_bytes"] > found["peak"]["allocated_bytes"]


def test_of_samples_that_cannot_be_read_the_models_longest_is_taken_in_doubt(
    tmp_path: Path,
) -> None:
    known = explained(tmp_path)
    found = explained(tmp_path, imports="import tokens", sample=NOT_KNOWN)
    assert found["roles"]["context"]["value"] is None
    assert found["trust"] == "doubted"
    assert any("has 16 x 48 tokens" in doubt for doubt in found["doubts"])
    assert found["peak"] == known["peak"]


def test_a_batch_is_no_larger_than_the_data_set(tmp_path: Path) -> None:
    few = explained(tmp_path, count="10", loaded="data, batch_size=16")
    assert few["peak"] == explained(tmp_path, loaded="data, batch_size=10")["peak"]
    assert few["peak"] != explained(tmp_path)["peak"]


def test_a_batch_that_stays_on_the_host_has_no_number(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    parts = {"sample": KNOWN, "length": "48", "loaded": PLAIN, "count": "1000", "imports": ""}
    path.write_text(SCRIPT.format(passed="x, y", **parts), encoding="utf-8")
    found = nanolint("explain", str(path), "--gpu", "rtx-4090")
    assert "Expected all tensors to be on the same device" in found.out + found.err
