"""Tables that a layer fills element by element, and what it makes on the host and does not use.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu rtx-4090``).

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_filled_tables import MADE, SCRIPT, peaks


def test_a_table_of_rotations_is_filled_as_pytorch_has_it(tmp_path: Path) -> None:
    assert peaks(tmp_path, SCRIPT) == (27_670_016, 33_554_432)


def test_a_tensor_of_the_hosts_that_learns_and_is_used_is_not_known(tmp_path: Path) -> None:
    text = SCRIPT.replace(MADE, "")
    assert text != SCRIPT
    assert explained(tmp_path, text)["trust"] == "unknown"
