from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL315")


@pytest.mark.parametrize(
    ("text", "better"),
    [("n_head = 10\nn_embd = 420\n", "n_embd = 400 makes 40"), ("n_head = 256\n", "n_embd = 2048")],
)
def test_reported(text: str, better: str) -> None:
    assert better in BENCH.finding(text).message


@pytest.mark.parametrize(
    "text",
    [
        "n_head = 6\nn_embd = 384\n",
        "n_head = 10\nn_embd = 421\n",
        "n_head = 10\nn_embd = 420\ndevice = 'mps'\n",
        "n_head = 10\nn_embd = 420\ninit_from = 'resume'\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []
