"""Small whole scripts are read to the events that PyTorch has: validation/record_scripts.py.

These take seconds each.
"""

from __future__ import annotations

from typing import Any

from nanolint.recording.recording import allocated_peak
from tests.unit.interpreter.test_recorded_small_scripts import EACH
from validation.read_models import digest, entries
from validation.record_scripts import read_row


@EACH
def test_reading_gives_the_events_of_the_trace(row: dict[str, Any]) -> None:
    found = read_row(row)
    assert found.doubts == ()
    assert allocated_peak(found.tape) == row["allocated"]
    # A trace ends with its third step; reading goes on to what is evaluated behind that.
    assert len(entries(found.tape)) >= row["entries"]
    assert digest(found.tape, row["entries"]) == row["digest"]
