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

from tests.support.repository import ROOT

ACTION = ROOT / "action.yml"
LARGE = "batch_size = 16\ngradient_accumulation_steps = 4 * 8\ndtype = 'bfloat16'\n"
LARGE += "block_size = 1024\nn_layer = 12\nn_head = 12\nn_embd = 768\n"

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None or os.name == "nt", reason="needs bash"
)


STEPS: list[dict[str, Any]] = yaml.safe_load(ACTION.read_text())["runs"]["steps"]


def step(name: str) -> dict[str, Any]:
    (found,) = [each for each in STEPS if each.get("id") == name]
    return found


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A runner's folder with a checkout."""
    (tmp_path / "work" / ".git").mkdir(parents=True)
    (tmp_path / "work" / "a b.py").write_text(LARGE)
    (tmp_path / "temp").mkdir()
    return tmp_path


def judged(runner: Path, **inputs: str) -> tuple[str, dict[str, str]]:
    """What the step prints, and its outputs."""
    output = runner / "output"
    output.write_text("")
    # ``-I`` hides PYTHONPATH, by which this checkout is found here where none is installed.
    python = runner / "python"
    python.write_text(f'#!/bin/sh\ntest "$1" = -I && shift\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    environment = {
        **os.environ,
        "PATHS": ".",
        "GPU": "",
        "ARGUMENTS": "",
        "UPLOAD": "true",
        "WORKING_DIRECTORY": ".",
        **inputs,
        "NANOLINT_PYTHON": str(python),
        "RUNNER_TEMP": str(runner / "temp"),
        "GITHUB_ACTION_PATH": str(ACTION.parent),
        "GITHUB_WORKSPACE": str(runner / "work"),
        "GITHUB_OUTPUT": str(output),
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("check")["run"]],
        cwd=runner / "work",
        env=environment,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 2), done.stderr
    pairs = (line.partition("=") for line in output.read_text().splitlines())
    return done.stdout, {key: value for key, _, value in pairs}


def results(outputs: dict[str, str]) -> list[dict[str, Any]]:
    (run,) = json.loads(Path(outputs["sarif"]).read_text())["runs"]
    found: list[dict[str, Any]] = run["results"]
    return found


def files(outputs: dict[str, str]) -> set[str]:
    """The files with findings, as code scanning is told of them."""
    return {
        each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for each in results(outputs)
    }


def test_a_pattern_that_matches_nothing_is_an_error(runner: Path) -> None:
    assert judged(runner, PATHS="cfg/*.py")[1]["status"] == "2"


def test_a_quote_that_is_never_closed_is_told(runner: Path) -> None:
    log, outputs = judged(runner, PATHS="'a b.py")
    assert log.startswith("::error title=nanolint::the action's inputs cannot be read")
    assert outputs == {}


def test_inputs_are_data(runner: Path) -> None:
    _, outputs = judged(runner, GPU="$(touch x)", ARGUMENTS="; touch x", PATHS="`touch x`")
    assert outputs["status"] == "2"
    assert not (runner / "work" / "x").exists()


def test_every_shell_step_takes_its_inputs_from_the_environment() -> None:
    for each in STEPS:
        assert "${{" not in each.get("run", "")


def test_every_action_that_is_used_is_pinned() -> None:
    for each in STEPS:
        if "uses" in each:
            assert len(each["uses"].partition("@")[2]) == 40


def prepared(runner: Path, name: str, **environment: str) -> dict[str, str]:
    """The outputs of a step before the check."""
    output = runner / name
    surroundings = {**os.environ, **environment, "GITHUB_ACTION_PATH": str(ACTION.parent)}
    subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]],
        env={**surroundings, "GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(runner / "temp")},
        check=True,
    )
    pairs = (line.partition("=") for line in output.read_text().splitlines())
    return {key: value for key, _, value in pairs}


def test_what_is_cached_is_named_by_python_and_source(runner: Path) -> None:
    found = prepared(runner, "python")
    assert Path(found["python"]).exists()
    assert found["key"] == prepared(runner, "python")["key"]
    assert step("cache")["with"]["key"] == "${{ steps.python.outputs.key }}"


def test_what_is_in_the_cache_is_not_installed_again(runner: Path) -> None:
    found = prepared(runner, "install", PYTHON="no-such-python", CACHED="true")
    assert found == {"python": str(runner / "temp" / "nanolint" / "bin" / "python")}


def test_the_page_on_ci_grants_what_the_upload_needs() -> None:
    page = (ACTION.parent / "docs" / "ci.md").read_text(encoding="utf-8")
    (text,) = [block for block in page.split("```yaml\n") if "nanolint/nanolint@" in block]
    workflow = yaml.safe_load(text.partition("```")[0])
    assert workflow["permissions"] == {"contents": "read", "security-events": "write"}
    first, second = workflow["jobs"]["nanolint"]["steps"]
    assert len(first["uses"].partition("@")[2]) == 40
    assert second["with"].keys() <= yaml.safe_load(ACTION.read_text())["inputs"].keys()
