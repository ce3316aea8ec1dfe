"""What a script lets go of is gone at once, whenever Python's garbage collector runs."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from tests.support.explained import explained
from validation.record_variations import CARD, rows
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

import pytest

REPLACED = "settings: transformer layers behind norms"


@pytest.mark.parametrize("often", [0, 1])
def test_a_model_that_is_replaced(tmp_path: Path, often: int) -> None:
    row, before = rows()[REPLACED], gc.get_threshold()
    gc.set_threshold(often)
    try:
        peak = explained(tmp_path, TEXTS[REPLACED], card=CARD)["peak"]
    finally:
        gc.set_threshold(*before)
    assert (peak["allocated_bytes"], peak["reserved_bytes"]) == (row["allocated"], row["reserved"])
