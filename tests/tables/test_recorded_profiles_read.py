"""Reading a published trainer, held to the profile that was traced of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nanolint.profiles.profiles import SHIPPED
from nanolint.run.profile_file import read
from nanolint.tape.profile import profiled
from tests.support.repository import ROOT
from validation.trace_scripts import played

RECORDED = ROOT / "validation" / "recorded" / "profiles_read.json"
ROWS: list[dict[str, Any]] = json.loads(RECORDED.read_text("utf-8"))
KNOWN = [row for row in ROWS if "allocated" in row]


def test_each_profile_has_a_row() -> None:
    assert {row["profile"] for row in ROWS} == {path.stem for path in SHIPPED.glob("*.json")}


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row["profile"])
def test_the_row_has_the_peaks_of_the_profile(row: dict[str, Any]) -> None:
    profile = read((SHIPPED / f"{row['profile']}.json").read_bytes())
    tape = profiled(profile, row["batch_size"], row["micro_steps"])
    assert played(tape) == (row["profile_allocated"], row["profile_reserved"])


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row["profile"])
def test_reading_is_within_the_margin_or_says_what_is_in_doubt(row: dict[str, Any]) -> None:
    close = row["allocated"] == pytest.approx(row["profile_allocated"], rel=0.002)
    assert close or row["doubts"]
