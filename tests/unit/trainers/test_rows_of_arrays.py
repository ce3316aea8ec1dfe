"""A batch that is made of a list of rows, however many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
DRAWN = "x = torch.randint(V, (B, T)).to(device)"
ROWS = """import numpy as np
    data = np.memmap('train.bin', dtype=np.uint16)
    rows = [data[i : i + T + 1].astype(np.int64) for i in torch.randint(len(data) - T, (B,))]
    x = {made}.to(device)"""
LISTED = "torch.tensor([row[:-1] for row in rows])"


def peak(folder: Path, text: str) -> int:
    found = explained(folder, text, card="h200")
    assert (found["trust"], found["doubts"]) == ("read", [])
    bytes_: int = found["peak"]["allocated_bytes"]
    return bytes_


@pytest.mark.parametrize("made", [LISTED, "torch.as_tensor(np.array([row[1:] for row in rows]))"])
def test_rows_of_an_array_are_a_batch(tmp_path: Path, made: str) -> None:
    text = BASE.replace(DRAWN, ROWS.format(made=made))
    assert peak(tmp_path, text) == peak(tmp_path, BASE)


def test_a_hundred_thousand_rows_are_read_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nanolint.interpreter.machine.STEPS", 30_000)
    text = BASE.replace(DRAWN, ROWS.format(made=LISTED))
    assert peak(tmp_path, text.replace("= 8, 256", "= 100_000, 16")) > 100 * peak(tmp_path, text)
