"""What people measured on real cards, against the trace of the same run."""

from __future__ import annotations

from typing import Any

import pytest

from validation.published import HERE, rows

MIB = 1 << 20


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row["name"]))
def test_the_trace_allocates_what_was_published_to_a_thousandth(row: dict[str, Any]) -> None:
    assert row["traced"] / MIB == pytest.approx(row["published_mib"], rel=0.001)
    assert (HERE / "stand_ins" / row["before"]).is_file()
