"""Cards of compute capability below 8.0: PyTorch has no fused attention for bfloat16 there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path


# Traced with PyTorch 2.6.0 on a T4, as validation/record_variations.py does with other ones.
@pytest.mark.parametrize(
    ("name", "allocated", "reserved"),
    [
        ("base", 109_978_112, 146_800_640),
        ("qk norm", 116_466_176, 155_189_248),
        ("alibi", 109_979_648, 148_897_792),
        ("checkpoint attend reentrant", 86_640_128, 119_537_664),
    ],
)
def test_attention_is_written_out(tmp_path: Path, name: str, allocated: int, reserved: int) -> None:
    path = tmp_path / "train.py"
    path.write_text(TEXTS[f"models: {name}"], encoding="utf-8")
    asked = ("--gpu", "t4", "--torch-version", "2.6", "--format", "json")
    found = json.loads(nanolint("explain", str(path), *asked).out)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == allocated
    assert found["peak"]["reserved_bytes"] == reserved
