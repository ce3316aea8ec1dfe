"""A config of one's own in a project like nanoGPT: its data is elsewhere, its values do not fit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.cli_configs import GPU, write
from tests.support.command import nanolint
from tests.support.model_text import MODEL
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = "dataset = 'tales'\nbatch_size = {rows}\nn_head = {heads}\nn_embd = 768\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path, {"train.py": train_script()})


@pytest.mark.parametrize("size", [65, 50304])
def test_the_way_out_of_a_missing_data_set_settles_it(size: int) -> None:
    write("config/a.py", CONFIG.format(rows=2, heads=12))
    doubted = nanolint("config/a.py", GPU)
    assert "probably fits" in doubted.out
    assert "--set vocab_size=N" in doubted.out
    settled = nanolint("config/a.py", GPU, f"--set=vocab_size={size}")
    assert settled.status == 0
    assert settled.out.startswith("config/a.py: fits ")


def test_a_script_that_takes_no_size_from_its_data_says_so() -> None:
    script = train_script()
    cut = script[: script.index("names = ")] + script[script.index("model_args = ") :]
    cut = cut.replace("50304 if letters is None else letters", "50304")
    (write("train.py", cut), write("config/a.py", CONFIG.format(rows=2, heads=12)))
    assert "fits" in nanolint("config/a.py", GPU).out
    told = nanolint("config/a.py", GPU, "--set=vocab_size=65").out
    assert "takes no vocab_size" in told
    assert "fits" not in told


def test_a_run_that_stops_has_one_finding_on_the_line_that_decides_it() -> None:
    write("config/a.py", CONFIG.format(rows=2, heads=10))
    outcome = nanolint("config/a.py", GPU, "--output-format=concise")
    assert [line for line in outcome.out.splitlines() if "NL3" in line or "NL6" in line] == [
        line
        for line in outcome.out.splitlines()
        if line.startswith("config/a.py:4:1: NL303[error]")
    ]


def test_a_check_of_the_model_points_at_the_value_that_it_names() -> None:
    begins = "class GPT(nn.Module):\n    def __init__(self, config):\n"
    assert begins in MODEL
    write("model.py", MODEL.replace(begins, f"{begins}        assert config.n_head > 12\n"))
    write("config/a.py", CONFIG.format(rows=2, heads=12))
    outcome = nanolint("config/a.py", GPU, "--output-format=concise")
    assert "config/a.py:3:1: NL605[error]" in outcome.out


def test_a_difference_tells_of_changes_that_are_not_safe() -> None:
    write("config/a.py", CONFIG.format(rows=64, heads=12))
    outcome = nanolint("config/a.py", GPU, "--diff")
    assert (outcome.status, outcome.out) == (0, "")
    assert "--unsafe-fixes" in outcome.error
    assert "\n-batch_size = 64\n" in nanolint("config/a.py", GPU, "--diff", "--unsafe-fixes").out


def test_each_run_of_a_file_with_launch_lines_has_its_place() -> None:
    write("run.sh", "python train.py --batch_size=2\npython train.py --batch_size=4\n")
    out = nanolint("run.sh", GPU).out
    assert "train.py (run.sh:1)  fits" in out
    assert "train.py (run.sh:2)  fits" in out
    runs = json.loads(nanolint("run.sh", GPU, "--output-format=json-full").out)["runs"]
    assert [each["launch"] for each in runs] == ["run.sh:1", "run.sh:2"]
