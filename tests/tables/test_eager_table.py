"""The eager replay against what PyTorch allocates: byte for byte, in every phase."""

from __future__ import annotations

from typing import Any

import pytest

from nanolint.memory.allocator.play import play
from nanolint.memory.moments import summits
from validation.accuracy import recorded, tape_of

ROWS = recorded("eager")


def name(row: dict[str, Any]) -> str:
    keys = ("batch_size", "block_size", "n_layer", "n_head", "n_embd", "vocab_size", "dtype")
    return "-".join(str(row[key]) for key in (*keys, "attention"))


def test_the_table_covers_what_it_promises() -> None:
    assert len(ROWS) >= 60
    for key, values in {
        "dtype": {"bfloat16", "float16", "float32"},
        "attention": {"flash", "efficient", "math"},
        "bias": {True, False},
    }.items():
        assert {row[key] for row in ROWS} == values
    assert {row["dropout"] > 0 for row in ROWS} == {True, False}
    assert min(row["grad_accum"] for row in ROWS) == 1 < max(row["grad_accum"] for row in ROWS)
    assert any(row["batch_size"] * row["block_size"] > 65_536 for row in ROWS)
    assert any(row["block_size"] % 2 for row in ROWS)
    assert any(row["n_embd"] // row["n_head"] % 8 for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_every_phase_peaks_at_the_recorded_byte(row: dict[str, Any]) -> None:
    tape = tape_of(row, "eager")
    found = summits(tape, len(tape.events))
    phases = {phase.value: peak for phase, (peak, _) in found.items()}
    assert phases == {phase: row[phase] for phase in phases}
    assert max(peak for peak, _ in found.values()) == row["overall"]


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_the_allocator_reserves_what_pytorchs_does(row: dict[str, Any]) -> None:
    assert play(tape_of(row, "eager")).peak_reserved_bytes == row["reserved"]
