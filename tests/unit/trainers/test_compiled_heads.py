"""Compiled attention over tensors that lie by heads: its result lies as they do, as in PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

CALL = "        y = F.scaled_dot_product_attention(q, k, v"
STACKED = "torch.stack((-each[..., 0::2], each[..., 1::2]), -1).flatten(3)"
# What PyTorch 2.13 allocates and reserves with the line before the call (`nanolint trace`).
TRACED = {
    "": (62_046_720, 69_206_016),
    "q, k, v = (each.contiguous() for each in (q, k, v))": (63_619_584, 75_497_472),
    "q = q.contiguous()": (65_192_448, 71_303_168),
    "k, v = k.contiguous(), v.contiguous()": (65_192_448, 71_303_168),
    f"q, k = ({STACKED} for each in (q, k))": (66_765_312, 73_400_320),
}


@pytest.mark.parametrize("line", TRACED, ids=["as they are", "all", "q", "k, v", "stacked"])
def test_attention_over_heads_takes_what_pytorch_takes(tmp_path: Path, line: str) -> None:
    text = TEXTS["settings: compiled"]
    assert CALL in text
    text = text.replace(CALL, f"        {line}\n{CALL}")
    found = explained(tmp_path, text, "--torch-version=2.13", card="rtx-4090")
    peak = found["peak"]
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert (peak["allocated_bytes"], peak["reserved_bytes"]) == TRACED[line]
