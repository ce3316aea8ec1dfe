"""Checkpoints on PyTorch 2.9: what is computed again adds biases on autograd's own thread."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from validation.record_variations import CARD
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path


# Traced with PyTorch 2.9.1, as validation/record_variations.py does with another.
@pytest.mark.parametrize(
    ("name", "allocated", "reserved"),
    [
        ("checkpoint mlp", 71_282_176, 96_468_992),
        ("checkpoint blocks", 65_381_888, 92_274_688),
        ("checkpoint sequential", 65_381_888, 90_177_536),
        ("checkpoint attend reentrant", 77_472_256, 96_468_992),
    ],
)
def test_the_second_thread_takes_a_workspace_for_biases(
    tmp_path: Path, name: str, allocated: int, reserved: int
) -> None:
    path = tmp_path / "train.py"
    path.write_text(TEXTS[f"models: {name}"], encoding="utf-8")
    asked = ("--gpu", CARD, "--torch-version", "2.9", "--format", "json")
    found = json.loads(nanolint("explain", str(path), *asked).out)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == allocated
    assert found["peak"]["reserved_bytes"] == reserved
