"""Words that are older than most scripts: Variable, LongTensor, bytearray; draws by chance.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu rtx-4090``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(100, 64)
        self.o = nn.Linear(64, 100)
        self.register_buffer("bias", torch.FloatTensor([1.0, 2.0]).repeat(50))
        self.scale = nn.Parameter(torch.Tensor(100, 64))

    def forward(self, x):
        return (self.e(x) * self.scale.sum()) @ self.o.weight.T + self.bias

net = Net().cuda()
opt = torch.optim.Adam(net.parameters())
texts = [list(range(21)) for _ in range(64)]

def batch():
    x = torch.LongTensor(32, 20)
    y = torch.LongTensor([each[1:] for each in random.choices(texts, k=32)])
    for i in range(32):
        x[i] = torch.zeros(20).long()
    return Variable(x).cuda(), Variable(y).cuda()

for step in range(10):
    x, y = batch()
    assert isinstance(torch.LongTensor([1]), torch.LongTensor)
    assert not isinstance(x, torch.LongTensor)
    z = net(x)
    loss = F.cross_entropy(z.view(-1, 100), y.view(-1))
    kept = Variable(z)
    assert not kept.requires_grad
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_script_in_older_words_is_read(tmp_path: Path) -> None:
    found = explained(tmp_path, SCRIPT, "--torch-version", "2.13", card="rtx-4090")
    assert found["trust"] == "read", found
    peak = found["peak"]
    assert (peak["allocated_bytes"], peak["reserved_bytes"]) == (18_634_240, 23_068_672)


SAMPLED = """

def sample(text):
    net.eval()
    x = torch.tensor(bytearray(text, "utf-8"), dtype=torch.long, device="cuda").unsqueeze(0)
    with torch.no_grad():
        for _ in range(400):
            x = torch.cat((x, {next}), dim=1)
    net.train()
    return bytes(x.to(torch.uint8).cpu().squeeze(0)).decode(errors="backslashreplace")
"""
NEXT = "net(x)[:, -1].argmax(-1, keepdim=True)"


def sampling(following: str) -> str:
    """The script with a sample of each tenth step's."""
    head, loop = SCRIPT.split("for step")
    loop += '    if step > 0 and step % 10 == 0:\n        print(sample("Once upon a time"))\n'
    return f"{head}{SAMPLED.format(next=following)}\nfor step{loop}".replace("(10)", "(1000)")


def test_a_text_of_bytes_is_sampled_from(tmp_path: Path) -> None:
    found = explained(tmp_path, sampling(NEXT), "--torch-version", "2.13", card="rtx-4090")
    assert (found["trust"], found["doubts"]) == ("read", [])


def test_what_stops_a_later_evaluation_is_said_with_its_line(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(sampling("missing(x)"), encoding="utf-8")
    done = nanolint(str(script), "--gpu=rtx-4090")
    assert "the run stops in " in done.out and ": NameError: name 'missing'" in done.out


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("Variable(z)", "Variable(z, requires_grad=True)", "Variable that learns"),
        (
            "y.view(-1))",
            "y.int().view(-1))",
            "target dtype to be Long or Byte, but got Int",
        ),
        ("LongTensor(32, 20)", "LongTensor(32, 20, device='cuda')", "a torch.LongTensor of device"),
    ],
)
def test_what_is_not_known_of_them_is_said(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in SCRIPT
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace(old, new), encoding="utf-8")
    done = nanolint("explain", str(script), "--gpu", "rtx-4090")
    assert why in " ".join(done.out.split()), done.out
