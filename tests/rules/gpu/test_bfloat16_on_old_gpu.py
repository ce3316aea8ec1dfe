from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL203", gpu="t4")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ('dtype = "bfloat16"\nbatch_size = 1\n', 'dtype = "float16"\nbatch_size = 1\n'),
        ("dtype='bfloat16' # ß\r\nbatch_size=1", "dtype='float16' # ß\r\nbatch_size=1"),
        ("batch_size = 1\n", "batch_size = 1\ndtype = 'float16'\n"),
        (
            "dtype = (\n    'bfloat'\n    '16'\n)\nbatch_size = 1\n",
            "dtype = 'float16'\nbatch_size = 1\n",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == text, "the fix is unsafe"
    assert BENCH.fixed(text, unsafe=True) == fixed


def test_an_inherited_value_is_said_to_be() -> None:
    assert BENCH.finding("batch_size = 1\n").message.startswith("dtype = 'bfloat16' (inherited)")


def test_pascal_fails_at_compiling_anyway() -> None:
    message = Bench("NL203", gpu="gtx-1080-ti").finding("batch_size = 1\n").message
    assert "torch.compile" not in message


@pytest.mark.parametrize("gpu", ["rtx-3060", "a100-40gb", "rtx-5090", "mi300x", "16GB"])
def test_newer_cards(gpu: str) -> None:
    assert Bench("NL203", gpu=gpu).findings("dtype = 'bfloat16'\nbatch_size = 1\n") == []


@pytest.mark.parametrize("setting", ["dtype = 'float16'", "dtype = 'float32'", "device = 'cpu'"])
def test_not_reported(setting: str) -> None:
    assert BENCH.findings(f"batch_size = 1\n{setting}\n") == []
