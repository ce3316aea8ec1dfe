"""

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.harness import Bench
from tests.unit.rules.config.test_missing_dataset import bench


@pytest.mark.parametrize(
    "text",
    ["dataset = 'poems'\n", "batch_size = 4\n", "dataset = '/mnt'\n", "dataset = input()\n"],
)
def test_not_reported(bench: Bench, text: str) -> None:
    assert bench.findings(text) == []


__all__ = ["bench"]  # fixtures
