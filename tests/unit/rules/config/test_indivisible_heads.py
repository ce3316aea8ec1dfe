from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.diagnostics import Severity
from tests.support.harness import Bench
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

BENCH = Bench("NL303")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("n_head = 12\nn_embd = 100\n", "n_embd = 96 or 108 would do, or n_head = 10"),
        ("n_embd = 1000\nbatch_size = 4\n", "n_embd = 996 or 1008 would do, or n_head = 10"),
        ("n_head = 5\nbatch_size = 4\n", "n_embd = 765 or 770 would do, or n_head = 4"),
        ("n_head = 8\nn_embd = 3\n", "n_embd = 8 would do, or n_head = 3"),
    ],
)
def test_reported(text: str, advice: str) -> None:
    assert BENCH.finding(text).message.endswith(advice)


def test_it_points_at_the_width_else_at_the_heads() -> None:
    assert BENCH.marked("n_head = 12\nn_embd = 100\n") == ["n_embd = 100"]
    assert BENCH.marked("batch_size = 4\nn_head = 5\n") == ["n_head = 5"]


@pytest.mark.parametrize(
    "text",
    [
        "n_head = 12\nn_embd = 768\n",
        "n_head = 0\nn_embd = 768\n",
        "n_head = 12.0\nn_embd = 100\n",
        "n_head = 5\ninit_from = 'gpt2'\n",
        "n_head = 5\ninit_from = 'resume'\n",
        "import os\nn_head = int(os.environ['H'])\nn_embd = 100\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


def test_the_command_line_counts() -> None:
    text = "n_head = 12\nn_embd = 768\n"
    assert len(Bench("NL303", overrides={"n_head": 5}).findings(text)) == 1


def test_a_lone_config_is_certainly_wrong_only_where_it_sets_both() -> None:
    """Another train.py may have another number of heads than nanoGPT's."""
    assert BENCH.finding("n_head = 12\nn_embd = 100\n").severity is Severity.ERROR
    assert BENCH.finding("n_embd = 100\nbatch_size = 4\n").severity is Severity.WARNING


def test_in_a_project_the_script_says_what_is_inherited(tmp_path: Path) -> None:
    bench = Bench("NL303", path=write_project(tmp_path) / "config" / "a.py")
    assert bench.finding("n_embd = 100\nbatch_size = 4\n").severity is Severity.ERROR
