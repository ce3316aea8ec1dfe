"""``torch.finfo``: the smallest and the largest number of an element type."""

from __future__ import annotations

from nanolint.interpreter.values import Namespace
from nanolint.tensors.dtypes import (
    BFLOAT16,
    FLOAT8_E4M3FN,
    FLOAT8_E5M2,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    Dtype,
)

SMALLEST = {
    FLOAT8_E4M3FN: -448.0,
    FLOAT8_E5M2: -57344.0,
    FLOAT16: -65504.0,
    BFLOAT16: -3.3895e38,
    FLOAT32: -3.4028e38,
    FLOAT64: -1.797e308,
}


def limits(dtype: Dtype) -> Namespace:
    """``torch.finfo(dtype)``."""
    least = SMALLEST.get(dtype, -1.0)
    return Namespace("finfo", {"min": least, "max": -least, "eps": 1e-7, "tiny": 1e-38})
