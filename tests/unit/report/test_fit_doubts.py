"""What ``fit`` says once of all its cards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.nn import functional as F
if torch.cuda.get_device_capability() >= (9, 0):
    from strange import first as scaled
else:
    from strange import second as scaled
B, T, V = 4, 64, 256
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, 64)
        self.head = nn.Linear(64, V)
    def forward(self, idx, targets):
        return F.cross_entropy(self.head(self.wte(idx)).view(-1, V), targets.view(-1))
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    x = torch.zeros(B, T, dtype=torch.long, device="cuda")
    loss = model(x, x)
    loss.backward()
    optimizer.step()
    if step % 2:
        model.eval()
        if torch.cuda.get_device_capability() >= (9, 0):
            print(scaled(model(x, x)))
        else:
            print(scaled(model(x, x) + 1))
        model.train()
"""


def test_a_doubt_of_two_lines_stands_once(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT, encoding="utf-8")

    def doubts(*cards: str) -> list[str]:
        words = [word for each in cards for word in ("--gpu", each)]
        found = json.loads(nanolint("fit", str(path), *words, "--format", "json").out)
        return [each for each in found["doubts"] if "a later step" in each]

    first, second = doubts("rtx-4090"), doubts("h100-80gb")
    assert first != second  # the same of two lines
    assert len(first) == len(second) == 1
    assert doubts("rtx-4090", "h100-80gb") == first


def test_a_card_that_the_script_ends_on_has_no_run(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    refuses = """
if torch.cuda.get_device_capability() < (9, 0):
    raise RuntimeError("needs a newer card")
"""
    path.write_text(SCRIPT.replace("B, T, V", f"{refuses}\nB, T, V"), encoding="utf-8")
    shown = nanolint("fit", str(path), "--gpu", "rtx-4090", "--gpu", "h100-80gb").out
    rows = [line.split() for line in shown.splitlines() if "GiB " in line]
    assert rows[0][-2:] == ["no", "run"]
    assert rows[1][5] == "4*"


PLAIN = """
import torch, torch.nn as nn
model = nn.Linear(4096, 4096).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    loss = model(torch.zeros(4, 4096, device="cuda")).sum()
    loss.backward()
    optimizer.step()
"""


def test_a_check_tells_the_same_room_as_a_fit(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(PLAIN, encoding="utf-8")
    for card in ("rtx-4060", "rtx-4070", "rtx-3090", "l40s"):
        fit = nanolint("fit", str(path), "--gpu", card).out
        (row,) = (line for line in fit.splitlines() if "GiB " in line)
        assert row.endswith(" GiB")
        assert f"({row.split()[-2]} to spare)" in nanolint("check", str(path), "--gpu", card).out
