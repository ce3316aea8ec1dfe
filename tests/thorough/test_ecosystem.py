"""The script that says what a change does to real projects."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.project_tree import write_project
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = ROOT / "scripts" / "ecosystem.py"


@pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(), reason="no git history here"
)
def test_a_project_is_judged_by_both_revisions(tmp_path: Path) -> None:
    project = write_project(tmp_path / "fork", {"config/a.py": "batch_size = 64\nn_layer = 24\n"})
    command = [sys.executable, str(SCRIPT), "HEAD", str(project)]
    told = subprocess.run(command, capture_output=True, text=True)
    assert "## fork:" in told.stdout, told.stderr
    assert "failed" not in told.stdout
    assert (told.returncode == 0) is (": 0 came, 0 went" in told.stdout)
