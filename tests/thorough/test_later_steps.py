"""What a later step does otherwise: longer sequences, another loss, more that learns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from validation.later_steps import CARD, TABLE, is_near, scripts

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.nn import functional as F

B, T, V = 8, 256, 8192

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, 128)
        self.inner = nn.Linear(128, 128)
        self.head = nn.Linear(128, V, bias=False)
    def forward(self, idx, targets):
        logits = self.head(F.gelu(self.inner(self.wte(idx))))
        return logits, F.cross_entropy(logits.view(-1, V), targets.view(-1))

model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
{loop}
    x = torch.randint(V, (B, t)).cuda()
    y = torch.randint(V, (B, t)).cuda()
    logits, loss = model(x, y)
{more}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
{end}
"""
PLAIN = "for step in range(500):\n    t = T"
GROWING = "for step in range(120):\n    t = T"
SHORT = "t = 64 if step < 100 else T"


def told(folder: Path, loop: str = PLAIN, more: str = "", end: str = "") -> dict[str, Any]:
    return explained(folder, SCRIPT.format(loop=loop, more=more, end=end))


def peak(found: dict[str, Any]) -> int:
    return int(found["peak"]["allocated_bytes"])


@pytest.mark.parametrize(
    ("loop", "end"),
    [
        (f"for step in range(500):\n    {SHORT}", ""),
        (f"step = 0\nwhile step < 500:\n    {SHORT}", "    step += 1"),
        (f"step = 0\nwhile True:\n    {SHORT}", "    step += 1\n    if step > 500: break"),
    ],
)
def test_sequences_that_grow_are_counted_and_doubted(tmp_path: Path, loop: str, end: str) -> None:
    found = told(tmp_path, loop, end=end)
    assert peak(found) == peak(told(tmp_path))
    (doubt,) = found["doubts"]
    assert "a later step trains with 8x256 tokens, not 8x64 (" in doubt


@pytest.mark.parametrize("length", ["64 * (1 + epoch // 3)", "min(T, 64 + 64 * epoch)"])
def test_epochs_of_longer_sequences_are_a_doubt(tmp_path: Path, length: str) -> None:
    inner = "    for step in range(9):\n        "
    text = SCRIPT.format(loop=f"for epoch in range(10):\n    t = {length}", more="", end="")
    head, _, body = text.partition("    x = torch.randint")
    found = explained(
        tmp_path, head + inner + "x = torch.randint" + body.replace("\n    ", "\n        ")
    )
    assert any("a later step trains with 8x256 tokens" in each for each in found["doubts"])


def test_a_term_that_the_loss_has_later_is_counted(tmp_path: Path) -> None:
    aux = "loss = loss + logits.float().logsumexp(-1).square().mean()"
    later = told(tmp_path, more=f"    if step > 100:\n        {aux}")
    assert peak(later) == peak(told(tmp_path, more=f"    {aux}")) > peak(told(tmp_path))
    assert not later["doubts"]


def test_an_evaluation_of_the_last_step_alone_is_counted(tmp_path: Path) -> None:
    evaluate = (
        "    if step == 499:\n        model.eval()\n        with torch.no_grad():\n"
        "            model(x.repeat(40, 1), y.repeat(40, 1))\n        model.train()"
    )
    assert peak(told(tmp_path, more=evaluate)) > 40 * 8 * 256 * 8192 * 4


def test_what_is_frozen_until_later_is_counted(tmp_path: Path) -> None:
    frozen = f"model.wte.requires_grad_(False)\n{PLAIN}\n    if step > 100:\n"
    found = told(tmp_path, frozen + "        model.wte.requires_grad_(True)")
    assert (peak(found), found["doubts"]) == (peak(told(tmp_path)), [])


@pytest.mark.parametrize(
    "test", ["not torch.isfinite(loss)", "torch.isnan(loss).any() or torch.isinf(loss)"]
)
def test_a_loss_is_taken_for_a_number(tmp_path: Path, test: str) -> None:
    found = told(tmp_path, more=f"    if {test}:\n        continue")
    assert (peak(found), found["doubts"]) == (peak(told(tmp_path)), [])


ROWS = [each for each in json.loads(TABLE.read_text(encoding="utf-8")) if each["traced"]]


@pytest.mark.parametrize("row", ROWS[::9], ids=lambda row: str(row["id"]))
def test_what_was_traced_over_all_steps_is_read(tmp_path: Path, row: dict[str, Any]) -> None:
    found = explained(tmp_path, scripts()[row["id"]], card=CARD)
    read = [found["peak"]["allocated_bytes"], found["peak"]["reserved_bytes"]]
    assert found["doubts"] or is_near({**row, "read": read})


BLOCK = "torch.zeros(1 << 20, device='cuda')"  # 4 MiB
KEPT = f"    kept.append({BLOCK})"


@pytest.mark.parametrize(
    ("before", "more", "blocks"),
    [
        ("kept = []", KEPT, 120),
        ("kept = []", f"{KEPT}\n    if (step + 1) % 50 == 0: kept.clear()", 49),
        ("kept = []", f"    if step % 50 == 0: kept = []\n{KEPT}", 50),
        ("kept = []", f"{KEPT}\n    if len(kept) > 100: kept.pop(0)", 100),
        ("kept = []", f"    if step % 10 == 0: kept.append({BLOCK})", 12),
        ("from collections import deque\nkept = deque(maxlen=100)", KEPT, 100),
    ],
)
def test_what_grows_is_counted_to_its_largest(
    tmp_path: Path, before: str, more: str, blocks: int
) -> None:
    found = told(tmp_path, f"{before}\n{GROWING}", more=more)
    assert (peak(found), found["doubts"]) == (peak(told(tmp_path)) + blocks * (4 << 20), [])


def test_a_later_step_that_fails_leaves_the_number_before_it(tmp_path: Path) -> None:
    found = told(tmp_path, end="    if step == 5: print(nobody_set_it)")
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert peak(found) == peak(told(tmp_path))


def test_a_kept_exception_holds_what_its_frames_hold(tmp_path: Path) -> None:
    raises = f"def f():\n    big = {BLOCK}\n    raise ValueError\n{PLAIN}\n"
    caught = "    try: f()\n    except ValueError as e: "
    held, not_held = (told(tmp_path, f"{raises}{caught}{what}") for what in ("last = e", "pass"))
    assert peak(held) == peak(not_held) + (4 << 20)


def test_a_cycle_that_holds_something_is_a_doubt(tmp_path: Path) -> None:
    cycle = f"    box = Box(); box.me = box; box.big = {BLOCK}"
    found = told(tmp_path, f"class Box: pass\n{PLAIN}", end=cycle)
    (doubt,) = found["doubts"]
    assert "4,194,304 bytes of each step" in doubt
    assert "(train.py:" in doubt
