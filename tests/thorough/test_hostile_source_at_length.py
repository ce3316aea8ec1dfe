"""Texts made to crash, hang, fill the memory, or be run: each ends soon, and none is run.

These take seconds each.
"""

from __future__ import annotations

import pytest

from tests.unit.source.test_hostile_source import READABLE, TOO_COMPLEX, read


@pytest.mark.parametrize("text", TOO_COMPLEX.values(), ids=TOO_COMPLEX)
def test_what_is_past_the_bounds_is_refused_soon(text: str) -> None:
    assert read(text) == "TooComplex"


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_what_is_within_the_bounds_is_read_in_little_time_and_memory(text: str) -> None:
    assert read(text) == "read"
