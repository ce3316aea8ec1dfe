"""The composite action: its own shell, run as GitHub's runner would, without the uploads.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.stories.test_action import LARGE, files, judged, results, runner

if TYPE_CHECKING:
    from pathlib import Path


def test_findings_go_into_a_sarif_file_and_the_log(runner: Path) -> None:
    log, outputs = judged(runner, GPU="rtx-3060", ARGUMENTS="--ignore NL2 --torch-version 2.7")
    assert (outputs["status"], outputs["upload"]) == ("1", "true")
    assert [result["level"] for result in results(outputs)] == ["error"]
    assert "a b.py:1:1: NL10" in log


@pytest.mark.parametrize("upload", ["false", "False", "no"])
def test_or_into_the_log_alone(runner: Path, upload: str) -> None:
    log, outputs = judged(runner, GPU="rtx-3060", UPLOAD=upload)
    assert "::error title=NL10" in log
    assert outputs == {"status": "1", "upload": "false"}


@pytest.mark.parametrize("upload", ["True", "true", "TRUE"])
def test_whoever_writes_true_means_it(runner: Path, upload: str) -> None:
    assert judged(runner, GPU="rtx-3060", UPLOAD=upload)[1]["upload"] == "true"


def test_inputs_of_several_lines_patterns_and_quotes_are_all_judged(runner: Path) -> None:
    for name in ("config/x.py", "config/y.py", "more/deep/z.py"):
        path = runner / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LARGE)
    paths = "config/*.py\n'a b.py'\nmore/**/*.py\n"
    _, outputs = judged(runner, PATHS=paths, GPU="rtx-3060", ARGUMENTS="--ignore\nNL2\n-q\n")
    assert files(outputs) == {"config/x.py", "config/y.py", "more/deep/z.py", "a%20b.py"}


@pytest.mark.parametrize("upload", ["true", "false"])
def test_names_start_at_the_root_of_the_repository(runner: Path, upload: str) -> None:
    (runner / "work" / "gpt").mkdir()
    (runner / "work" / "gpt" / "c.py").write_text(LARGE)
    inputs = {"GPU": "rtx-3060", "PATHS": "c.py", "WORKING_DIRECTORY": "gpt"}
    log, outputs = judged(runner, UPLOAD=upload, **inputs)
    if upload == "true":
        assert files(outputs) == {"gpt/c.py"}
    else:
        assert ",file=gpt/c.py," in log


__all__ = ["runner"]  # fixtures
