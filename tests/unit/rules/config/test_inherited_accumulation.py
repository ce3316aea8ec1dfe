from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

BENCH = Bench("NL312")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("batch_size = 8\n", "327,680"), ("block_size = 64\nbatch_size = 2\n", "5,120")],
)
def test_reported(text: str, tokens: str) -> None:
    assert BENCH.finding(text).message.endswith(f"{tokens} tokens")


@pytest.mark.parametrize(
    "text",
    [
        "batch_size = 8\ngradient_accumulation_steps = 40\n",
        "block_size = 64\ndropout = 0.1\n",
        "batch_size = 8\neval_only = True\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


def test_set_on_the_command_line() -> None:
    bench = Bench("NL312", overrides={"gradient_accumulation_steps": 4})
    assert bench.findings("batch_size = 8\n") == []


def test_it_says_whose_value_applies(tmp_path: Path) -> None:
    text = "batch_size = 8\n"
    assert "so nanoGPT's 40 applies" in BENCH.finding(text).message
    bench = Bench("NL312", path=write_project(tmp_path) / "config" / "a.py")
    assert "so train.py's 40 applies" in bench.finding(text).message


def test_a_context_that_only_the_reading_tells_gives_no_tokens(tmp_path: Path) -> None:
    script = train_script().replace("block_size = 1024\n", "max_seq_len = 64\n")
    below = "block_size = [max_seq_len for _ in range(2)].pop()\ndef get_batch"
    script = script.replace("def get_batch", below)
    path = write_project(tmp_path, {"train.py": script}) / "config" / "a.py"
    (found,) = Bench("NL312", path=path).findings("batch_size = 8\n")
    assert found.message.endswith("a step takes 320 sequences")
