"""Scripts that run a file of settings where they stand: ``exec(open("small.py").read())``.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_executed_files import BASE, SIZES, WAYS, ran


@pytest.mark.parametrize("runs", WAYS)
def test_what_a_script_runs_sets_its_values(tmp_path: Path, runs: str) -> None:
    found = ran(tmp_path, runs)
    at_once = explained(tmp_path, BASE.replace(SIZES, "B, T, V, C = 2, 64, 1000, 128"))
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == at_once["peak"]["allocated_bytes"]
