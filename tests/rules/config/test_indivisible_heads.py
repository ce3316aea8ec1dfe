from __future__ import annotations

import pytest

from tests.rules.harness import Bench

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
