"""

These take seconds each.
"""

from __future__ import annotations

import pytest

from tests.support.harness import Bench
from tests.unit.rules.gpu.test_float32_on_tensor_cores import TEXT


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
