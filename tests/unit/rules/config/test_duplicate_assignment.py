from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL305")


def test_the_value_without_effect_is_marked() -> None:
    text = "batch_size = 8\nblock_size = 64\nbatch_size = 4\n"
    found = BENCH.finding(text)
    assert BENCH.marked(text) == ["batch_size = 8"]
    assert found.message == "batch_size = 8 has no effect: line 3 sets it again, to 4"
    assert text[found.related[0].span.start : found.related[0].span.end] == "batch_size = 4"


def test_three_times() -> None:
    assert BENCH.marked("dropout = 0.1\ndropout = 0.2\ndropout = 0.3\n") == [
        "dropout = 0.1",
        "dropout = 0.2",
    ]


def test_a_long_value_is_cut() -> None:
    text = f"out_dir = '{'x' * 50}'\nout_dir = 'y'\n"
    assert BENCH.finding(text).message.startswith(f"out_dir = '{'x' * 36}... has no effect")


@pytest.mark.parametrize(
    "text",
    [
        "batch_size = 8\nblock_size = 4\n",
        "batch_size = 8\nbatch_size *= 2\n",
        "batch_size = 8\nblock_size = 64 * batch_size\nbatch_size = 4\n",
        "batch_size = 8\nif batch_size > 4:\n    batch_size = 4\n",
        "batch_size = 8\n# batch_size = 4\nblock_size = 64\n",
        "n = 1\nbatch_size = n\nn = 2\nblock_size = n\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []
