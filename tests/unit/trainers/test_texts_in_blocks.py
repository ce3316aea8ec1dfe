"""Texts that a script of its own cuts into blocks, whether they are here or not.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu rtx-4090``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.utils.data import Dataset, DataLoader
B, T = 16, 32
class Blocks(Dataset):
    def __init__(self, path):
        text = open(path).read()
        tokens = [ord(each) for each in list(text)]
        self.blocks = [tokens[i : i + T + 1] for i in range(0, len(tokens) - T, T + 1)]
    def __len__(self):
        return len(self.blocks)
    def __getitem__(self, at):
        block = torch.tensor(self.blocks[at])
        return block[:-1], block[1:]
model = nn.Sequential(nn.Embedding(128, 64), nn.Linear(64, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for x, y in DataLoader(Blocks("words.txt"), batch_size=B, shuffle=True, drop_last=True):
    loss = nn.functional.cross_entropy(model(x.cuda()).flatten(0, 1), y.cuda().flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
NUMBERED = "[ord(each) for each in list(text)]"
TRACED = (18_160_128, 23_068_672)
FEW = """
import torch, torch.nn as nn
B, T = 16, 32
text = open("words.txt").read()
known = sorted(set(text))
table = {each: at for at, each in enumerate(known)}
data = torch.tensor([table[each] for each in text], dtype=torch.int8)
data = data[: int(0.8 * len(data))]
model = nn.Sequential(nn.Embedding(65, 64), nn.Linear(64, 65)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    at = torch.randint(0, len(data) - T, (B,))
    x = torch.stack([data[i : i + T] for i in at]).long().cuda()
    model(x).logsumexp(-1).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def peaks(folder: Path, text: str) -> tuple[int, int]:
    found = explained(folder, text, "--torch-version=2.13", card="rtx-4090")
    assert (found["trust"], found["doubts"]) == ("read", [])
    return found["peak"]["allocated_bytes"], found["peak"]["reserved_bytes"]


def test_a_text_may_be_kept_in_a_byte_for_each_character(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("The quick brown fox. " * 50_000, encoding="utf-8")
    assert peaks(tmp_path, FEW) == (17_815_040, 23_068_672)


PARTS = [
    'os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "words.txt")',
    'os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "data", "words.txt")',
    'Path(__file__).resolve().parent.parent / "data" / "words.txt"',
]


@pytest.mark.parametrize("path", PARTS, ids=["above", "beside", "pathlib"])
def test_a_text_is_found_where_its_path_is_put_together(tmp_path: Path, path: str) -> None:
    (tmp_path / "pyproject.toml").touch()
    for folder in ("data", "runs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / "words.txt").write_text("The quick brown fox. " * 50_000, encoding="utf-8")
    script = FEW.replace("\nimport", "\nimport os\nfrom pathlib import Path\nimport", 1)
    script = script.replace('open("words.txt").read()', f'"".join(open({path}).read())')
    script = script.replace("(0, len(data) - T, (B,))", "(high=len(data) - T, size=(B,))")
    assert peaks(tmp_path / "runs", script) == (17_815_040, 23_068_672)
