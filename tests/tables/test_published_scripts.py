"""Scripts as people publish them, read beside their traces: validation/read_scripts.py."""

from __future__ import annotations

from typing import Any

import pytest

from validation.read_scripts import PAGE, TABLE, table_lines
from validation.trace_scripts import rows

READ = [row for row in rows() if "read" in row]
EACH = pytest.mark.parametrize("row", READ, ids=lambda row: str(row["name"]))
# Read otherwise than PyTorch has it, which the run's doubts say.
OTHERWISE = {"llm.c, 8 processes, compiled": "torch.compile splits the graph"}
# Saved is what may be the last of an epoch, whose length is not known: read where it may happen.
SAVED = {"minimind", "minimind, fine-tuning", "minimind, LoRA"}
# Traced with texts that are shorter than the context and evaluations that come more often.
EVALUATED = {"build-nanogpt"}
WHOLE = pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row,
            id=row["name"],
            marks=pytest.mark.xfail(reason=OTHERWISE[row["name"]], strict=True)
            if row["name"] in OTHERWISE
            else (),
        )
        for row in READ
    ],
)


def test_the_five_are_there() -> None:
    names = {row["name"] for row in READ}
    assert names >= {"build-nanogpt", "llm.c", "llama2.c", "autoresearch", "nanochat"}


def test_what_is_read_otherwise_is_in_doubt() -> None:
    doubts = {row["name"]: " ".join(row["read"]["doubts"]) for row in READ}
    assert all(why in doubts[name] for name, why in OTHERWISE.items())


@WHOLE
def test_what_is_read_is_within_a_thousandth_of_the_trace(row: dict[str, Any]) -> None:
    read, traced = row["read"], row["traced"]
    assert read["allocated"] == pytest.approx(traced["max_memory_allocated"], rel=0.001)
    assert read["reserved"] == pytest.approx(traced["max_memory_reserved"], rel=0.005)


@EACH
def test_what_differs_without_a_doubt_is_no_more_than_a_thousandth(row: dict[str, Any]) -> None:
    eager = row["read"]["eager"]
    assert eager["allocated"] == pytest.approx(eager["traced"], rel=0.001)
    if not row["read"]["doubts"]:
        assert (eager["difference"] is not None) == (row["name"] in SAVED | EVALUATED)


@EACH
def test_what_was_published_as_reserved_is_read_within_a_thousandth(row: dict[str, Any]) -> None:
    told = row["published"] or {}
    if "reserved_gib" not in told:
        pytest.skip("nobody has published it")
    reserved = row["read"]["reserved"] / (1 << 30)
    assert reserved == pytest.approx(told["reserved_gib"], rel=0.001)


def test_the_page_has_the_table() -> None:
    found = TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0].splitlines() == list(table_lines())
