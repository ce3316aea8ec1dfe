"""How many batches a loader has, and what a script asks of the machine that it is on.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_lengths_of_loaders import BASE, DATA, LENGTHS, SIZES


@pytest.mark.parametrize(("loader", "length"), LENGTHS)
def test_a_loader_has_as_many_batches_as_torchs(tmp_path: Path, loader: str, length: int) -> None:
    asserts = f"{SIZES}\n{DATA}\nassert len({loader}) == {length}, len({loader})"
    found = explained(tmp_path, BASE.replace(SIZES, asserts))
    assert (found["trust"], found["doubts"]) == ("read", [])
    wrong = asserts.replace(f"== {length},", f"== {length + 1},")
    assert explained(tmp_path, BASE.replace(SIZES, wrong))["trust"] == "unknown"
