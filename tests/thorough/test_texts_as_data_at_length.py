"""Scripts that make their tokens of texts: lines split by patterns, characters numbered by a table
that the script itself writes to a file and loads again.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_texts_as_data import read, script, sums


def test_prompts_are_split_as_the_script_splits_them(tmp_path: Path) -> None:
    sums(tmp_path, "sums.txt", 10_000)
    sums(tmp_path, "prompts.txt", 1000)
    of_fewer = read(tmp_path, script(prompts=True))["allocated_bytes"]
    sums(tmp_path, "prompts.txt", 3000)
    assert read(tmp_path, script(prompts=True))["allocated_bytes"] > 2 * of_fewer
