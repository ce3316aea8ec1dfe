"""Small whole scripts are read to the events that PyTorch has: validation/record_scripts.py."""

from __future__ import annotations

import json
from typing import Any

import pytest

from validation.record_scripts import LINES, TABLE, text_of

ROWS: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))
# Read otherwise than PyTorch has it, or not at all, and why.
OTHERWISE = {
    "python loaded.py": "the context is a dimension of what a data set indexes: not known",
}
MISSES = {name: pytest.mark.xfail(reason=reason, strict=True) for name, reason in OTHERWISE.items()}
EACH = pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=row["name"], marks=MISSES.get(row["name"], ())) for row in ROWS],
)


def test_what_is_recorded_is_of_the_scripts_as_they_are() -> None:
    assert [row["name"] for row in ROWS] == list(LINES)
    assert {row["name"]: row["script"] for row in ROWS} == {line: text_of(line) for line in LINES}
