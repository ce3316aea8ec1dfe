"""What was not checked is said, and never taken for clean.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.cli_configs import GPU, write
from tests.support.command import nanolint
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_is_judged_like_the_files_in_it(tmp_path: Path) -> None:
    write_project(tmp_path)
    write("config/one.py", "batch_size = 256\n")
    write("config/sub/loop.py", "for k, v in {'batch_size': 3}.items():\n    globals()[k] = v\n")
    folder = nanolint("config", GPU, "--output-format=concise")
    named = nanolint("config/one.py", "config/sub/loop.py", GPU, "--output-format=concise")
    assert folder.out == named.out
    assert "config/one.py:1:1: NL102[error] " in folder.out
    assert "1 run checked for RTX 3060 12GB; 1 not checked.\n" in folder.out
