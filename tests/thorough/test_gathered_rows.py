"""Loops that gather rows, which are made one batch behind them: every turn adds to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
LOOP = "for it in range(9):"
EVALUATION = """@torch.no_grad()
def evaluate():
    model.eval()
    {gathered}
    model(rows, rows)
    model.train()
for it in range(9):
    evaluate()"""
ONE = "torch.zeros((1, T), dtype=torch.long, device=device)"
# As many rows, in loops over numbers whose turns all write the same to the card.
WAYS = {
    "a list": f"""held = []
    for i in range(200):
        held.append({ONE})
    rows = torch.cat(held)""",
    "a list of pairs": f"""held = []
    for i in range(200):
        held.append(({ONE}, i))
    rows = torch.cat([row for row, _ in held])""",
    "a list in a dictionary": f"""held = {{}}
    for i in range(200):
        row = {ONE}
        if len(row) in held:
            held[len(row)].append(row)
        else:
            held[len(row)] = [row]
    rows = torch.cat(held[1])""",
    "a dictionary": f"""held = {{}}
    for i in range(200):
        held[i] = {ONE}
    rows = torch.cat(list(held.values()))""",
    "a function": f"""held = []
    def add(i):
        held.append({ONE})
    for i in range(200):
        add(i)
    rows = torch.cat(held)""",
}
AT_ONCE = "rows = torch.zeros((200, T), dtype=torch.long, device=device)"


def evaluated(folder: Path, gathered: str) -> int:
    text = BASE.replace(LOOP, EVALUATION.format(gathered=gathered))
    found = explained(folder, text, card="h200")
    assert (found["trust"], found["doubts"]) == ("read", [])
    bytes_: int = found["peak"]["allocated_bytes"]
    return bytes_


@pytest.mark.parametrize("way", WAYS)
def test_a_batch_has_a_row_of_every_turn(tmp_path: Path, way: str) -> None:
    gathered = evaluated(tmp_path, WAYS[way])
    at_once = evaluated(tmp_path, AT_ONCE)
    # The rows themselves, 2 KiB each, are there besides.
    assert 0 <= gathered - at_once <= 2 * 200 * 2048
    assert at_once > 100 * 2**20
