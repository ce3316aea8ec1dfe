"""Models that are read, against what PyTorch allocated for the same text (validation/models).

These take seconds each.
"""

from __future__ import annotations

from typing import Any

import pytest

from nanolint.gpus.lookup import find
from nanolint.recording.recording import allocated_peak
from tests.unit.interpreter.test_against_torch import ROWS
from validation.read_models import digest, entries
from validation.record_read import CARD, TORCH, case_of


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_model_that_is_read_allocates_what_torch_does(row: dict[str, Any]) -> None:
    tape = case_of(row).read(find(CARD).gpu, TORCH)
    assert len(entries(tape)) == row["entries"]
    assert digest(tape) == row["digest"]
    assert allocated_peak(tape) == row["allocated"]
