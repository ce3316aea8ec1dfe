"""Ten published scripts as they were traced: see validation/trace_scripts.py."""

from __future__ import annotations

from typing import Any

import pytest

from validation.trace_scripts import HERE, MIB, rows

EACH = pytest.mark.parametrize("row", rows(), ids=lambda row: str(row["name"]))


@EACH
def test_the_tape_played_has_the_peaks_that_torch_counted(row: dict[str, Any]) -> None:
    found = row["traced"]
    assert found["played_allocated"] == found["max_memory_allocated"]
    assert found["played_reserved"] == found["max_memory_reserved"]
    assert found["max_memory_allocated"] > 100 * MIB


@EACH
def test_where_people_have_published_a_peak_it_is_met_to_a_thousandth(row: dict[str, Any]) -> None:
    if row["published"] is None:
        pytest.skip("nobody has published one")
    told, traced = row["published"], row["traced"]
    if "mib" in told:
        assert traced["max_memory_allocated"] / MIB == pytest.approx(told["mib"], rel=0.001)
    else:
        reserved = traced["max_memory_reserved"] / MIB / 1024
        assert reserved == pytest.approx(told["reserved_gib"], rel=0.001)


def test_the_six_kinds_and_four_more_are_there() -> None:
    names = {row["name"] for row in rows()}
    assert len(names) >= 10
    assert names > {
        "nanochat", "build-nanogpt", "llm.c", "modded-nanogpt", "nanoMoE", "Hugging Face Trainer",
    }  # fmt: skip
    assert all((HERE / "stand_ins" / row["before"]).is_file() for row in rows() if row["before"])
