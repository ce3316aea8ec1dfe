from __future__ import annotations

import pytest

from nanolint.rule import Severity
from tests.support.harness import Bench

BENCH = Bench("NL306")


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("init_from = 'gpt2'\nn_layer = 6\nn_head = 12\n", ["n_layer = 6"]),
        ("init_from = 'gpt2-xl'\nbias = False\nn_embd = 768\n", ["bias = False", "n_embd = 768"]),
        ("init_from = 'resume'\nn_layer = 12\n", ["n_layer = 12"]),
    ],
)
def test_reported(text: str, marked: list[str]) -> None:
    assert sorted(BENCH.marked(text)) == sorted(marked)


def test_a_resumed_run_is_only_told() -> None:
    assert BENCH.finding("init_from = 'resume'\nn_layer = 12\n").severity is Severity.INFO


@pytest.mark.parametrize(
    "text",
    [
        "init_from = 'gpt2'\nn_layer = 12\nbias = True\n",
        "init_from = 'scratch'\nn_layer = 6\n",
        "init_from = 'gpt2'\nblock_size = 512\ndropout = 0.1\n",
        "n_layer = 6\nn_head = 6\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


def test_a_start_from_the_command_line() -> None:
    assert Bench("NL306", overrides={"init_from": "resume"}).findings("n_layer = 6\n") == []


@pytest.mark.parametrize("start", ["[]", "{}", "3"])
def test_a_start_that_is_no_text_names_no_checkpoint(start: str) -> None:
    assert BENCH.findings(f"init_from = {start}\nn_layer = 2\nblock_size = 2048\n") == []
