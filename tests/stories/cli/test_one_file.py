"""`explain` and `fit` are about one run: a file that holds one, or standard input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.cli_configs import GPU, SMALL, write
from tests.support.command import nanolint
from tests.support.project_tree import TWICE, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "import torch.nn as nn\n\n\nclass GPT(nn.Module):\n    pass\n"
both = pytest.mark.parametrize("command", ["explain", "fit"])


@both
def test_a_file_without_a_run_is_refused(command: str, tmp_path: Path) -> None:
    write_project(tmp_path, {"model.py": MODEL})
    outcome = nanolint(command, "model.py", GPU)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.error == "nanolint: model.py: holds no run: defines a model and trains nothing"


@both
def test_standard_input(command: str) -> None:
    outcome = nanolint(command, "-", GPU, "--format=json", stdin=SMALL.encode())
    assert outcome.status == 0
    told = json.loads(outcome.out)
    assert told["file"] == "<stdin>"
    write("a.py", SMALL)
    named = json.loads(nanolint(command, "a.py", GPU, "--format=json").out)
    assert {**told, "file": "a.py", "roles": None} == {**named, "roles": None}


@both
def test_standard_input_may_stand_for_a_file_of_a_project(command: str, tmp_path: Path) -> None:
    write_project(tmp_path, {"train.py": train_script(loop=TWICE)})
    arguments = (command, "-", "--stdin-filename=config/a.py", GPU, "--format=json")
    told = json.loads(nanolint(*arguments, stdin=SMALL.encode()).out)
    assert (told["file"], told["trust"]) == ("config/a.py", "doubted")
    assert told["doubts"]
    alone = nanolint(command, "a.py", "--stdin-filename=b.py")
    assert (alone.status, alone.error) == (
        2,
        "nanolint: --stdin-filename needs - (standard input)",
    )


@both
def test_doubts_are_told_in_the_text(command: str, tmp_path: Path) -> None:
    write_project(tmp_path, {"train.py": train_script(loop=TWICE)})
    write("config/a.py", SMALL)
    assert "\nnot certain: " in nanolint(command, "config/a.py", GPU).out
    write_project(tmp_path)
    assert "not certain" not in nanolint(command, "config/a.py", GPU).out


def test_the_verdict_of_a_doubted_run_says_so(tmp_path: Path) -> None:
    write_project(tmp_path, {"train.py": train_script(loop=TWICE)})
    write("config/a.py", SMALL)
    out = nanolint("explain", "config/a.py", GPU).out
    assert "RTX 3060 12GB: fits, not certain\n" in out


@both
def test_an_unknown_run_has_one_line_with_the_reason(command: str) -> None:
    write("a.py", "batch_size = choose()\nblock_size = 64\n")
    outcome = nanolint(command, "a.py", GPU, *(["--oom=x"] if command == "explain" else []))
    assert outcome.status == 2
    assert outcome.error.startswith("nanolint: a.py: not known before the run: batch_size (")
