"""The composite action: its own shell, run as GitHub's runner would, without the uploads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ACTION = Path(__file__).parent.parent / "action.yml"
LARGE = "batch_size = 16\ngradient_accumulation_steps = 4 * 8\ndtype = 'bfloat16'\n"

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None or os.name == "nt", reason="needs bash"
)


def step(number: int) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(ACTION.read_text())["runs"]["steps"][number]
    return found


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A runner's folder in which the first step has installed nanolint."""
    program = tmp_path / "temp" / "nanolint" / "bin" / "nanolint"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nanolint "$@"\n')
    program.chmod(0o755)
    (tmp_path / "work" / ".git").mkdir(parents=True)
    (tmp_path / "work" / "a b.py").write_text(LARGE)
    return tmp_path


def judged(runner: Path, **inputs: str) -> tuple[str, dict[str, str]]:
    """What the step prints, and its outputs."""
    output = runner / "output"
    output.write_text("")
    defaults = {"PATHS": ".", "GPU": "", "ARGUMENTS": "", "UPLOAD": "true"}
    environment = {
        **os.environ,
        **defaults,
        **inputs,
        "RUNNER_TEMP": str(runner / "temp"),
        "GITHUB_OUTPUT": str(output),
        "PYTHONPATH": f"{ACTION.parent}{os.pathsep}{ACTION.parent / 'rules'}",
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(1)["run"]],
        cwd=runner / "work",
        env=environment,
        text=True,
        capture_output=True,
        check=True,
    )
    pairs = (line.partition("=") for line in output.read_text().splitlines())
    return done.stdout, {key: value for key, _, value in pairs}


def test_findings_go_into_a_sarif_file(runner: Path) -> None:
    _, outputs = judged(runner, GPU="rtx-3060", ARGUMENTS="--ignore NL2 --torch-version 2.7")
    assert outputs["status"] == "1"
    (run,) = json.loads(Path(outputs["sarif"]).read_text())["runs"]
    assert [result["level"] for result in run["results"]] == ["error"]


def test_or_into_the_log(runner: Path) -> None:
    told, outputs = judged(runner, GPU="rtx-3060", UPLOAD="false")
    assert "::error title=NL10" in told
    assert outputs == {"status": "1"}


def test_inputs_are_data(runner: Path) -> None:
    _, outputs = judged(runner, GPU="$(touch x)", ARGUMENTS="; touch x", PATHS="`touch x`")
    assert outputs["status"] == "2"
    assert not (runner / "work" / "x").exists()


def test_every_shell_step_takes_its_inputs_from_the_environment() -> None:
    for number in (0, 1, 3):
        assert "${{" not in step(number)["run"]
