"""What the pages say is what the code does.

These take seconds each.
"""

from __future__ import annotations

from statistics import median

import pytest

from tests.support.repository import ROOT
from validation import accuracy


def test_the_accuracy_table_is_the_models_own() -> None:
    text = accuracy.PAGE.read_text(encoding="utf-8")
    assert accuracy.page_with(text, accuracy.table()) == text


@pytest.mark.parametrize(
    ("oracle", "error", "reserved_error"),
    [("eager", 0.0, 0.0), ("compiled", 0.001, 0.072), ("derived", 0.00002, 0.017)],
)
def test_the_readme_tells_the_errors_that_were_found(
    oracle: str, error: float, reserved_error: float
) -> None:
    allocated, reserved = accuracy.errors(oracle)
    assert max(map(abs, allocated)) <= error
    assert max(map(abs, reserved)) <= reserved_error
    assert median(map(abs, reserved)) == 0
    said = {"derived": "read and compiled"}.get(oracle, oracle)
    assert f"{said}, {len(allocated)} runs" in (ROOT / "README.md").read_text(encoding="utf-8")
