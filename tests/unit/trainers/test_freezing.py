"""Parameters that a script freezes and lets learn again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from validation.record_variations import CARD, rows
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

MADE = "model = GPT().to(device)\n"


def read(folder: Path, more: str) -> dict[str, Any]:
    text = TEXTS["settings: base"]
    assert text.count(MADE) == 1
    return explained(folder, text.replace(MADE, MADE + more), card=CARD)


@pytest.mark.parametrize(
    ("more", "row"),
    [
        ("model.requires_grad_(False)\nmodel.requires_grad_(True)\n", "base"),
        ("for p in model.parameters(): p.requires_grad = False\nmodel.requires_grad_()\n", "base"),
        (
            "model.requires_grad_(False)\n"
            "for name, p in model.named_parameters():\n"
            "    if not name.startswith('wte'):\n"
            "        p.requires_grad = True\n",
            "requires grad",
        ),
    ],
)
def test_what_learns_again_takes_what_it_did(tmp_path: Path, more: str, row: str) -> None:
    found = read(tmp_path, more)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == rows()[f"settings: {row}"]["allocated"]
    assert found["peak"]["reserved_bytes"] == rows()[f"settings: {row}"]["reserved"]


@pytest.mark.parametrize("mode", ["torch.rand(()).item() > 0.5", "float(open('x').read()) > 1"])
def test_whether_a_part_learns_is_not_guessed(tmp_path: Path, mode: str) -> None:
    found = read(tmp_path, f"model.wte.requires_grad_({mode})\n")
    assert found["trust"] != "read" or found["doubts"]
