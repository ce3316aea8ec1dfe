"""What people change in a training script: what is read is what PyTorch takes, or in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trainers.test_own_data import explained
from validation.record_variations import CARD, digest, rows
from validation.variations import VARIATIONS, text_of

if TYPE_CHECKING:
    from pathlib import Path

# What is not read, or in doubt, and why it may be. All others are equal to the byte.
NOT_KNOWN: dict[str, str] = {
    **dict.fromkeys(
        (
            "adafactor",
            "lbfgs",
        ),
        "optimizers of other kinds are not read",
    ),
    **dict.fromkeys(
        (
            "grad hook",
            "hook after accumulation",
        ),
        "hooks are not read",
    ),
    **dict.fromkeys(
        (
            "default float64",
            "default bfloat16",
            "default tensor type",
            "deterministic",
            "fraction",
            "alloc conf split",
            "autocast nocache",
        ),
        "settings of all of PyTorch that are not followed",
    ),
    **dict.fromkeys(
        (
            "compiled flash off",
            "compiled blocks",
        ),
        "what is compiled so is not derived",
    ),
    **dict.fromkeys(
        (
            "averaged",
            "autograd grad",
            "create graph",
            "dataparallel",
            "double",
            "multihead attention",
            "transformer layer",
            "lstm",
            "save on cpu",
            "sparse embedding",
            "stream",
            "torch func",
            "weight norm",
            "patch method",
        ),
        "parts of PyTorch that are not read",
    ),
}


@pytest.mark.parametrize("name", VARIATIONS)
def test_a_change_is_read_or_in_doubt(tmp_path: Path, name: str) -> None:
    row = rows()[name]
    assert row["text"] == digest(name)
    found = explained(tmp_path, text_of(name), CARD)
    sure = (found.get("trust"), found.get("doubts")) == ("read", [])
    assert sure is (name not in NOT_KNOWN)
    if sure:
        assert found["peak"]["allocated_bytes"] == row["allocated"]
        assert found["peak"]["reserved_bytes"] == row["reserved"]
