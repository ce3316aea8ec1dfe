"""Models that are read, against what PyTorch allocated for the same text (validation/models)."""

from __future__ import annotations

from validation.accuracy import recorded
from validation.record_read import configs

ROWS = recorded("read")


def test_the_table_holds_the_rows_of_its_recorder() -> None:
    assert [row["name"] for row in ROWS] == [row["name"] for row in configs()]
