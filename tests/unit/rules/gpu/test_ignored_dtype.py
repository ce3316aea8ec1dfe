from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL206")


@pytest.mark.parametrize("device", ["cpu", "mps", "xpu"])
def test_reported(device: str) -> None:
    assert BENCH.marked(f"device = '{device}'\ndtype = 'float16'\n") == ["dtype = 'float16'"]


def test_a_dtype_from_the_command_line() -> None:
    bench = Bench("NL206", overrides={"dtype": "bfloat16"})
    assert bench.marked("device = 'cpu'\ncompile = False\n") == ["device = 'cpu'"]


@pytest.mark.parametrize(
    "text",
    [
        "device = 'cuda:1'\ndtype = 'float16'\n",
        "device = 'cpu'\ncompile = False\n",
        "device = 'cpu'\ndtype = 'float32'\n",
        "import torch\ndevice = pick()\ndtype = 'float16'\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []
