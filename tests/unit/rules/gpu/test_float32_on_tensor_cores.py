from __future__ import annotations

import pytest

from tests.support.harness import Bench

TEXT = "batch_size = 1\ndtype = 'float32'"


@pytest.mark.parametrize(
    ("gpu", "half"),
    [
        ("rtx-3090", "bfloat16"),
        ("h100-sxm-80gb", "bfloat16"),
        ("v100-16gb", "float16"),
        ("rtx-3090,t4", "float16"),
    ],
)
def test_the_best_dtype_of_every_target(gpu: str, half: str) -> None:
    bench = Bench("NL204", gpu=gpu)
    assert bench.fixed(TEXT) == TEXT, "the fix is unsafe"
    assert bench.fixed(TEXT, unsafe=True) == f"batch_size = 1\ndtype = '{half}'"


def test_formatting_is_kept() -> None:
    bench = Bench("NL204", gpu="rtx-3090")
    text = 'batch_size = 1\r\ndtype      = ("float32")   # précis\r\n'
    assert bench.fixed(text, unsafe=True) == (
        'batch_size = 1\r\ndtype      = "bfloat16"    # précis\r\n'
    )


@pytest.mark.parametrize("gpu", ["gtx-1660-ti", "gtx-1080-ti", "mi210", "24GB"])
def test_cards_without_tensor_cores(gpu: str) -> None:
    assert Bench("NL204", gpu=gpu).findings(TEXT) == []


@pytest.mark.parametrize("setting", ["dtype = 'float16'", "device = 'cpu'", "compile = False"])
def test_not_reported(setting: str) -> None:
    assert Bench("NL204", gpu="rtx-3090").findings(f"batch_size = 1\n{setting}\n") == []
