from __future__ import annotations

import pytest

from tests.support.harness import Bench

TEXT = "batch_size = 1\ndtype = 'float32'"


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
