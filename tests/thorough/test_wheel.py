"""The product as shipped, started as the script that is installed (``program``)."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(os.name == "nt", reason="the script is one for Unix")
def test_the_installed_script_judges_and_fixes(program: Path, tmp_path: Path) -> None:
    config = "batch_size = 16\ngradient_accumulation_steps = 32\nblock_size = 1024\n"
    project = write_project(tmp_path, {"config/a.py": config})

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        return subprocess.run(
            [program, *arguments], cwd=project, capture_output=True, text=True, env=environment
        )

    first = run("config", "--gpu=rtx-3060-12gb", "--output-format=concise")
    assert first.returncode == 1, first
    assert "config/a.py:1:1: NL10" in first.stdout
    assert run("config", "--gpu=rtx-3060-12gb", "--output-format=concise").stdout == first.stdout
    assert run("--fix", "config/a.py", "--gpu=rtx-3060-12gb").returncode == 0
    assert "batch_size = 8" in (project / "config" / "a.py").read_text()
    assert "NL101" in run("rule", "NL101").stdout, "the pages are in the wheel"


@pytest.mark.skipif(os.name == "nt", reason="the script is one for Unix")
def test_the_next_command_says_the_same_of_what_was_kept(program: Path, tmp_path: Path) -> None:
    config = "batch_size = 16\ngradient_accumulation_steps = 32\nblock_size = 1024\n"
    project = write_project(tmp_path / "project", {"config/a.py": config})
    cache = tmp_path / "cache"

    def run(*arguments: str, kept: str = str(cache)) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment["NANOLINT_CACHE"] = kept
        words = (*arguments, "config/a.py", "--gpu=rtx-3060-12gb")
        return subprocess.run(
            [program, *words], cwd=project, capture_output=True, text=True, env=environment
        ).stdout

    def readings() -> set[Path]:
        return {each for each in cache.rglob("*") if each.is_file()}

    alone = [run(kept=""), run("explain", kept="")]
    assert not readings()
    assert [run(), run("explain")] == alone
    kept = readings()
    assert kept
    assert [run(), run("explain")] == alone and readings() == kept
    (project / "config" / "a.py").write_text(config.replace("16", "4"))
    changed = run()
    assert changed == run(kept="") != alone[0] and readings() > kept
    for each in readings():
        each.write_bytes(each.read_bytes()[:-7])
    assert run() == changed
