"""Profiles of models that nanolint cannot know, as they were made: validation/profiles.py."""

from __future__ import annotations

from typing import Any

import pytest

from nanolint.run.profile import MOST_STEPS
from validation.profiles import rows

EACH = pytest.mark.parametrize("row", rows(), ids=lambda row: str(row["name"]))


@EACH
def test_every_micro_batch_is_within_the_margin_of_its_own_trace(row: dict[str, Any]) -> None:
    found = row["found"]
    margin = found["error_per_mille"] / 1000
    assert len(found["micro_batches"]) >= 5
    for _, _, allocated, reserved, told_allocated, told_reserved in found["micro_batches"]:
        assert abs(told_allocated - allocated) <= margin * allocated
        assert abs(told_reserved - reserved) <= margin * reserved


@EACH
def test_some_of_them_are_of_runs_that_the_profile_was_not_made_from(row: dict[str, Any]) -> None:
    """It is made from steps of at most four micro-steps; the launch lines have more."""
    found = row["found"]
    assert any(steps > MOST_STEPS for _, steps, *_ in found["micro_batches"])
    assert found.get("held_out", True)


@EACH
def test_the_fix_is_what_tracing_every_micro_batch_finds(row: dict[str, Any]) -> None:
    found = row["found"]
    assert found["trust"] == "traced"
    assert found["largest_by_fix"] == found["largest_by_tracing"] is not None
    assert found["largest_by_fix"] < max(batch for batch, *_ in found["micro_batches"])


@EACH
def test_a_profile_is_a_few_kilobytes(row: dict[str, Any]) -> None:
    assert row["found"]["bytes"] < 32_000
