"""What a script passes to its model, its batch and its loop decides, not what a key is called.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.harness import Bench
from tests.support.project_tree import (
    LOADER,
    train_script,
    write_project,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.run.test_roles import Files


def test_no_fix_writes_a_key_that_decides_nothing(tmp_path: Path) -> None:
    loader = LOADER.replace("batch_size", "micro")
    files: Files = {
        "train.py": train_script(extra_settings="micro = 64\n", loader=loader),
    }
    path = write_project(tmp_path, files) / "config" / "a.py"
    text = "batch_size = 2\ngradient_accumulation_steps = 8\n"
    finding = Bench("NL102", path=path, gpu="rtx-3060").finding(text)
    assert finding.fix is None
    assert "not fixed: train.py reads it from micro" in finding.notes
