"""Rows that are packed of texts whose lengths nobody knows, and padded: batches of a known size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.test_own_data import HEAD, LOOP, NET

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = """
def batches():
    while True:
        x, y = torch.zeros(B, T, dtype=torch.long), torch.zeros(B, T, dtype=torch.long)
        yield x.to(device), y.to(device)
"""
PACKED = """
import pyarrow
class Mixture:
    def __init__(self, tables):
        self.pairs = []
        for at, table in enumerate(tables):
            for row in range(len(table)):
                self.pairs.append((at, row))
    def __getitem__(self, at):
        return self.pairs[at]
texts = Mixture([pyarrow.read('a'), pyarrow.read('b')])
ended = False
def batches():
    global ended
    read, at = [], 0
    while True:
        while len(read) < 8:
            read.append(pyarrow.tokens(texts[at]))
            at += 1
            if at >= pyarrow.count(texts):
                ended = True
        rows, ends = [], []
        for _ in range(B):
            row = []
            while len(row) < T + 1:
                row.extend(read.pop(0))
            ends.append(len(row))
            rows.append(row[: T + 1])
        whole = torch.tensor(rows, dtype=torch.long)
        x, y = whole[:, :-1].to(device), whole[:, 1:].to(device)
        for row, end in enumerate(ends):
            if end < T:
                y[row, end:] = -1
        yield x, y
"""


def script(loader: str, head: str = "") -> str:
    loop = LOOP.replace("x, y = get_batch()", "x, y = next(loader)")
    return f"{HEAD}\nvocab_size = 5000\n{NET}{loader}\nloader = batches()\n{head}{loop}"


def test_they_take_what_plain_rows_take(tmp_path: Path) -> None:
    plain = explained(tmp_path, script(PLAIN))
    packed = explained(tmp_path, script(PACKED))
    assert plain["trust"] == "read"
    assert packed["trust"] == "doubted"
    assert "has 8 x 64 tokens" in " ".join(packed["doubts"])
    assert packed["peak"]["allocated_bytes"] == plain["peak"]["allocated_bytes"]


FLAG = """
import torch.distributed as dist
def told():
    flag = torch.tensor(ended, dtype=torch.int32, device=device)
    return bool(flag.item())
"""


def test_what_is_true_or_false_is_a_number(tmp_path: Path) -> None:
    asks = script(PACKED, FLAG).replace("    loss = model", "    print(told())\n    loss = model")
    assert explained(tmp_path, asks)["trust"] == "doubted"


EVALUATION = """
@torch.no_grad()
def evaluate():
    total = torch.zeros((), device=device)
    for _ in range(2):
        x, y = next(loader)
        loss = model(x.to(device), y.to(device))
        if (y < 0).any():
            total += loss * 2
        else:
            total += loss
    if total.item() == 0:
        return float('inf')
    return total.item()
"""


@pytest.mark.parametrize("loader", [PLAIN, PACKED])
def test_an_evaluation_may_end_by_what_it_finds(tmp_path: Path, loader: str) -> None:
    text = script(loader).replace("for it", f"{EVALUATION}\nfor it")
    text += """
    if it % 2 == 0:
        model.eval()
        print(evaluate())
        model.train()
"""
    doubts = " ".join(explained(tmp_path, text)["doubts"])
    assert "cannot read an evaluation" not in doubts


TOKEN_BY_TOKEN = """
import pyarrow
def batches():
    read = pyarrow.tokens()
    whole = torch.empty(B * T + 1, dtype=torch.long)
    while True:
        for at in range(B * T + 1):
            whole[at] = read.popleft()
        yield whole[:-1].view(B, T).to(device), whole[1:].view(B, T).to(device)
"""


def test_a_row_that_is_filled_token_by_token(tmp_path: Path) -> None:
    sizes = ("B, T = 8, 64", "B, T = 64, 4096")
    plain, filled = (
        explained(tmp_path, script(each).replace(*sizes)) for each in (PLAIN, TOKEN_BY_TOKEN)
    )
    assert filled["trust"] == "read"
    assert filled["peak"]["allocated_bytes"] == plain["peak"]["allocated_bytes"]


OWN = """
class Own(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad.mul(group["lr"]))
progress = 0.5
"""


def test_a_rate_by_what_nobody_knows_is_a_number(tmp_path: Path) -> None:
    own = script(PLAIN, OWN).replace("torch.optim.SGD", "Own")
    step = "    optimizer.step()\n"
    rated = f"""    progress = max(progress, pyarrow.progress())
    for group in optimizer.param_groups:
        group["lr"] = group["lr"] * (1 if progress < 0.8 else 1 - progress)
{step}"""
    text = own.replace("class Net", "import pyarrow\nclass Net").replace(step, rated)
    plain, found = explained(tmp_path, own), explained(tmp_path, text)
    assert found["trust"] == plain["trust"] == "read"
    assert found["peak"]["allocated_bytes"] == plain["peak"]["allocated_bytes"]
