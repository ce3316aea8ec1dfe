"""Loops over data of which nobody knows how much there is: they end once their turns are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import trained_on

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset
from transformers import AutoTokenizer
B, T = 64, 64
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, at):
        return self.rows[at], self.rows[at]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(100, 256)
        self.m = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(4)])
        self.h = nn.Linear(256, 100)
    def forward(self, x):
        return self.h(self.m(self.e(x)))
tokenizer = AutoTokenizer.from_pretrained("gpt2")
with open("stories.txt") as f:
    tokens = tokenizer.encode(f.read(), return_tensors="pt")
rows = tokens[:, : 500 * T].view(-1, T)
learnt, held = train_test_split(rows, test_size=0.3)
def generated():
    data = np.memmap("train.bin", dtype=np.uint16, mode="r")
    for at in range(0, len(data) - T * B, T * B):
        x = torch.from_numpy(data[at : at + T * B].astype(np.int64)).view(B, T)
        yield x, x
net = Net().cuda()
opt = torch.optim.AdamW(net.parameters())
def loss_of(x, y):
    x, y = x.cuda(), y.cuda()
    return nn.functional.cross_entropy(net(x).view(-1, 100), y.view(-1))
for epoch in range(10):
    net.train()
    for step, (x, y) in enumerate(DataLoader(Rows(learnt), B)):
        (loss_of(x, y) / PASSES).backward()
        if (step + 1) % PASSES == 0:
            opt.step()
            opt.zero_grad()
    net.eval()
    EVALUATES
        for x, y in EVALUATED:
            losses = loss_of(x, y)
"""
LOADED, GENERATED = "DataLoader(Rows(held), B)", "generated()"
LEFT = "assuming that an epoch's last passes leave no gradients, if they are too few for a step"


def script(over: str, *, learns: bool = False, passes: int = 1) -> str:
    evaluates = "if True:" if learns else "with torch.no_grad():"
    text = SCRIPT.replace("EVALUATES", evaluates).replace("EVALUATED", over)
    return text.replace("PASSES", str(passes))


def test_what_a_loader_or_a_generator_gives(tmp_path: Path) -> None:
    found = [explained(tmp_path, script(over)) for over in (LOADED, GENERATED)]
    assert [each["trust"] for each in found] == ["read", "read"]
    assert found[0]["peak"] == found[1]["peak"]
    assert found[0]["run"]["batch_size"] == 64


def test_an_evaluation_that_keeps_graphs(tmp_path: Path) -> None:
    """While a turn makes its graph, that of the one before is there."""
    plain, learns = (explained(tmp_path, script(LOADED, learns=each)) for each in (False, True))
    assert learns["trust"] == "read"
    assert learns["peak"]["allocated_bytes"] > plain["peak"]["allocated_bytes"]


def test_gradients_may_be_left_of_the_last_passes(tmp_path: Path) -> None:
    found = explained(tmp_path, script(LOADED, learns=True, passes=4))
    assert found["doubts"] == [LEFT]


def test_what_is_numbered_is_gone_through_to_its_end(tmp_path: Path) -> None:
    sizes = "sizes = [1 << 10] * 100 + [1 << 28]\n"
    loop = "for number, size in enumerate(sizes):\n    torch.zeros(size, device='cuda')\n"
    head = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\ndevice = 'cuda'\n"
    text = head + sizes + loop + trained_on("torch.randint(0, 1000, (16, 128))")
    found = explained(tmp_path, text)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == 4 << 28


def test_one_loop_whose_steps_are_all_alike(tmp_path: Path) -> None:
    """An optimizer without state leaves memory as it was, from the first step on."""
    text = """
import torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        return torch.zeros(16, dtype=torch.long), 3
net = torch.nn.Embedding(64, 64).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in DataLoader(Rows(), batch_size=8):
    net(x.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
    found = explained(tmp_path, text)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == 67584  # as PyTorch 2.13 has it


FEW = """
import torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self):
        return ROWS
    def __getitem__(self, index):
        return torch.zeros(64)
net = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(10):
    for x in DataLoader(Rows(), batch_size=32DROPS):
        net(x.cuda()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        print(x.shape[0])
    with torch.no_grad():
        print(torch.zeros(1 << 20, device="cuda").sum().item(), "behind an epoch")
"""


@pytest.mark.parametrize(("rows", "drops"), [("38", ""), ("38", ", drop_last=True"), ("64", "")])
def test_epoch_of_few_batches_ends_behind_the_last(tmp_path: Path, rows: str, drops: str) -> None:
    """What is behind an epoch comes before the third step then, as in PyTorch 2.13."""
    release = '[tool.nanolint]\ntorch-version = "2.13"\n'
    (tmp_path / "pyproject.toml").write_text(release, "utf-8")
    text = FEW.replace("ROWS", rows).replace("DROPS", drops)
    found = explained(tmp_path, text, card="rtx-4090")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert [(each["name"], each["allocated_bytes"]) for each in found["phases"]] == [
        ("setup", 16896),
        ("forward", 21252096),
        ("backward", 17106432),
    ]


def test_last_batch_is_smaller(tmp_path: Path) -> None:
    refuses = "        assert x.shape[0] == 32\n        print(x.shape[0])"
    text = FEW.replace("        print(x.shape[0])", refuses).replace("ROWS", "38")
    found = explained(tmp_path, text.replace("DROPS", ""))
    assert found["trust"] == "unknown"
    assert explained(tmp_path, text.replace("DROPS", ", drop_last=True"))["trust"] == "read"
