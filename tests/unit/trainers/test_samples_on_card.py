"""Data sets that put each sample on the card, and the words that many scripts share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import gzip, numpy as np, torch, torch.nn as nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset
BATCH_SIZE, SEQ_LEN = 4, 512
def cycle(loader):
    while True:
        for data in loader:
            yield data
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(256, 64)
        self.head = nn.Linear(64, 256, bias=False)
    def forward(self, ids):
        assert ids.ndim in {2, 4}
        idx, targets = ids[:, :-1], ids[:, 1:]
        logits = self.head(F.gelu(self.wte(idx)))
        return F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))
model = Net().cuda()
with gzip.open('./data/enwik8.gz') as file:
    x = np.frombuffer(file.read(int(95e6)), dtype=np.uint8).copy()
    train_x, valid_x = np.split(x, [int(90e6)])
    data_train, data_val = map(torch.from_numpy, (train_x, valid_x))
class Samples(Dataset):
    def __init__(self, data, seq_len):
        super().__init__()
        self.data = data
        self.seq_len = seq_len
    def __getitem__(self, index):
        start = torch.randint(0, self.data.size(0) - self.seq_len, (1,))
        full_seq = self.data[start: start + self.seq_len].long()
        return full_seq.cuda()
    def __len__(self):
        return self.data.size(0) // self.seq_len
loader = cycle(DataLoader(Samples(data_train, SEQ_LEN), batch_size=BATCH_SIZE))
optim = torch.optim.Adam(model.parameters(), lr=1e-3)
for i in range(1000):
    model.train()
    for _ in range(4):
        loss = model(next(loader))
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optim.step()
    optim.zero_grad()
"""


@pytest.mark.parametrize(
    "opened",
    [
        "np.frombuffer(file.read(int(95e6)), dtype=np.uint8).copy()",
        "np.fromstring(file.read(int(95e6)), dtype=np.uint8)",
    ],
)
def test_samples_lie_on_the_card_until_they_are_a_batch(tmp_path: Path, opened: str) -> None:
    """As ``nanolint trace`` has it: PyTorch 2.13, an RTX 4090, any bytes in the file."""
    text = SCRIPT.replace("np.frombuffer(file.read(int(95e6)), dtype=np.uint8).copy()", opened)
    found = explained(tmp_path, text, "--torch-version", "2.13", card="rtx-4090")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == 24_906_752
    assert found["peak"]["reserved_bytes"] == 46_137_344


def test_a_sample_that_is_not_known_is_no_batch(tmp_path: Path) -> None:
    text = SCRIPT.replace("import gzip, ", "import mine, ").replace("gzip.open", "mine.open")
    assert explained(tmp_path, text)["trust"] == "unknown"


CALLED = """
import torch, transformers
from transformers import GPT2LMHeadModel, GPT2Config
batch_size, n_ctx, accumulation, stride = 8, 1024, 2, 768
model = GPT2LMHeadModel(config=GPT2Config.from_json_file("config.json"))
model.to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
tokens = [int(each) for each in open("tokens.txt").read().split()]
start, samples, overall = 0, [], 0
while start < len(tokens) - n_ctx:
    samples.append(tokens[start: start + n_ctx])
    start += stride
for step in range(len(samples) // batch_size):
    batch = samples[{window}]
    inputs = []
    for ids in batch:
        inputs.append([int(x) for x in ids])
    inputs = torch.tensor(inputs).long().to("cuda")
    outputs = model.forward(input_ids=inputs, labels=inputs)
    loss = outputs[0] / accumulation
    loss.backward()
    if (overall + 1) % accumulation == 0:
        optimizer.step()
        optimizer.zero_grad()
    overall += 1
"""


@pytest.mark.parametrize(
    "window",
    [
        "step * batch_size: (step + 1) * batch_size",
        "batch_size * step: batch_size * (step + 1)",
        "step * batch_size: step * batch_size + batch_size",
    ],
)
def test_forward_is_a_call_and_a_window_of_a_list_has_its_size(tmp_path: Path, window: str) -> None:
    (tmp_path / "train.py").write_text(CALLED.replace("{window}", window), encoding="utf-8")
    shown = nanolint("explain", str(tmp_path / "train.py"), "--gpu", "a100-40gb").out
    assert "micro-batch               8        batch_size, line 4" in shown
    assert "accumulation              2        accumulation, line 4" in shown
