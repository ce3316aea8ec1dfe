"""Forks of nanoGPT whose loop, batch or optimizer was changed: the script is read whole.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_whole_forks import SCRIPT, explained


def test_an_evaluation_over_all_of_a_file_has_no_number(tmp_path: Path) -> None:
    script = SCRIPT.replace(
        "    for k in range(eval_iters):\n        X, Y = get_batch()",
        "    at = 0\n    while at + block_size < len(train_data):\n"
        "        at += block_size\n        X, Y = get_batch()",
    )
    found = explained(tmp_path, "batch_size = 16\n", script=script)
    assert found["trust"] == "unknown"
    assert "how often a loop turns is not known" in str(found["unresolved"])
