"""

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.harness import Bench
from tests.unit.rules.config.test_unknown_key import bench


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("learning_rte = 1e-3  # größer", "learning_rate = 1e-3  # größer"),
        ("batch_sz   = (\r\n  4)\r\n", "batch_size   = (\r\n  4)\r\n"),
        ("Dropout: float = 0.1\n", "dropout: float = 0.1\n"),
        ("grad_accumulation_steps = 4\n", "gradient_accumulation_steps = 4\n"),
    ],
)
def test_fixed(bench: Bench, text: str, fixed: str) -> None:
    assert bench.fixed(text) == text, "the fix is unsafe"
    assert bench.fixed(text, unsafe=True) == fixed


@pytest.mark.parametrize(
    "text",
    [
        "batch_size = 4\nnum_samples = 3\n",  # sample.py reads it
        "gpus = 8\ngradient_accumulation_steps = 5 * gpus\n",
        "_note = 'x'\nbatch_size = 4\n",
        "import time\nfrom math import pi\nbatch_size = 4\n",
    ],
)
def test_not_reported(bench: Bench, text: str) -> None:
    assert bench.findings(text) == []


__all__ = ["bench"]  # fixtures
