"""The compiled replay against what PyTorch allocates: 0.5 % on allocated, 2 % on reserved peaks.

The rows are what Inductor's own generated code and train.py's loop allocate: torch 2.13.0, a card
of 46 SMs.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.memory.allocator.caching import CachingAllocator
from nanolint.memory.allocator.play import play
from nanolint.memory.moments import summits
from validation import accuracy

if TYPE_CHECKING:
    from nanolint.memory.tape import Tape

ROWS = accuracy.recorded("compiled")
LIMITED = [row for row in ROWS if "least_limit" in row]

ALLOCATED = 0.005
RESERVED = 0.02
LIMIT = 0.05  # of the least card that a run survives on


@cache
def tape_of(index: int) -> Tape:
    """The row's run, on the card that it was recorded for."""
    return accuracy.tape_of(ROWS[index], "compiled")


def name(row: dict[str, Any]) -> str:
    return str(row["name"])


def test_the_table_covers_what_it_promises() -> None:
    assert len(ROWS) >= 40
    assert {row["dtype"] for row in ROWS} == {"bfloat16", "float16", "float32"}
    assert {row["attention"] for row in ROWS} == {"flash", "efficient"}
    assert {row["bias"] for row in ROWS} == {True, False}
    assert {row["dropout"] > 0 for row in ROWS} == {True, False}
    assert {65, 32000, 50257, 50304} <= {row["vocab_size"] for row in ROWS}
    assert min(row["n_layer"] for row in ROWS) == 1 and max(row["n_layer"] for row in ROWS) == 48
    assert min(row["n_embd"] for row in ROWS) <= 128 and max(row["n_embd"] for row in ROWS) >= 1600
    assert min(row["grad_accum"] for row in ROWS) == 1 < max(row["grad_accum"] for row in ROWS)
    assert any(row["batch_size"] == 1 for row in ROWS)
    assert any(row["vocab_size"] % 8 for row in ROWS)
    assert any(row["batch_size"] * row["block_size"] >= 65_536 for row in ROWS)


@pytest.mark.parametrize("index", range(len(ROWS)), ids=map(name, ROWS))
def test_every_phase_peaks_within_half_a_percent(index: int) -> None:
    row, tape = ROWS[index], tape_of(index)
    found = summits(tape, len(tape.events))
    for phase, (allocated, *_) in found.items():
        assert allocated == pytest.approx(row[phase.value], rel=ALLOCATED), phase
    overall = max(summit[0] for summit in found.values())
    assert overall == pytest.approx(row["overall"], rel=ALLOCATED)


@pytest.mark.parametrize("index", range(len(ROWS)), ids=map(name, ROWS))
def test_the_evaluation_peaks_at_the_recorded_byte(index: int) -> None:
    row, tape = ROWS[index], tape_of(index)
    found = {phase.value: summit[0] for phase, summit in summits(tape, len(tape.events)).items()}
    assert found["eval"] == row["eval"]


@pytest.mark.parametrize("index", range(len(ROWS)), ids=map(name, ROWS))
def test_reserved_peaks_within_two_percent(index: int) -> None:
    reserved = play(tape_of(index)).peak_reserved_bytes
    assert reserved == pytest.approx(ROWS[index]["reserved"], rel=RESERVED)


@pytest.mark.parametrize("index", range(len(ROWS)), ids=map(name, ROWS))
def test_memory_allocated_peaks_within_half_a_percent(index: int) -> None:
    """As torch counts it: with the rest of a block that was too small to split off."""
    tape, allocator = tape_of(index), CachingAllocator()
    blocks, peak = [], 0
    for event in tape.events:
        if event >= 0:
            blocks.append(allocator.malloc(tape.sizes[event]))
            peak = max(peak, allocator.allocated)
        else:
            allocator.release(blocks[~event])
    assert peak == pytest.approx(ROWS[index]["memory_allocated"], rel=ALLOCATED)


@pytest.mark.parametrize("row", LIMITED, ids=name)
def test_it_survives_where_the_oracle_does(row: dict[str, Any]) -> None:
    """The least limit found by bisection: a little more is enough, a little less is not."""
    tape = tape_of(ROWS.index(row))
    limit = row["least_limit"]
    assert play(tape, limit_bytes=int(limit * (1 + LIMIT))).refusal is None
    assert play(tape, limit_bytes=int(limit * (1 - LIMIT))).refusal is not None
