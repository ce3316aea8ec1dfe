from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL302")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("dropout = 0\n", "dropout = 0.0\n"),
        ("grad_clip   = ( 1 )   # größer\r\n", "grad_clip   = 1.0     # größer\r\n"),
        ("max_iters = 6e5", "max_iters = 600000"),
        ("warmup_iters = 1_000.\n", "warmup_iters = 1_000\n"),
        ("compile = 0\n", "compile = False\n"),
        ("weight_decay = 1_0\n", "weight_decay = 1_0.0\n"),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == fixed


@pytest.mark.parametrize(
    "text",
    [
        "max_iters = 0.5\n",
        "wandb_run_name = None\n",
        "batch_size = '8'\n",
        "max_iters = 2 * 1e5\n",
        "dropout = 0\nout_dir = 'a' * int(dropout)\n",
    ],
)
def test_reported_and_not_fixed(text: str) -> None:
    assert BENCH.finding(text).fix is None


@pytest.mark.parametrize(
    "text",
    [
        "dropout = 0.0\n",
        "max_iters = 10\n",
        "dtype = 3\n",
        "other = 1\n",
        "seed = float(input())\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_infinity_is_no_integer(number: str) -> None:
    assert BENCH.finding(f"max_iters = {number}\n").fix is None
