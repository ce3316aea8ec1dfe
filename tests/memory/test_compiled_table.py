"""The compiled replay against the recorded oracle: 1 % on allocated, 5 % on reserved peaks.

The rows are what Inductor's own generated code allocates (torch 2.13.0, a card of 46 SMs), played
through train.py's loop without cuBLAS's workspace.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nanolint.memory.allocator import CachingAllocator, play
from nanolint.memory.compiled import Compiled
from nanolint.memory.program import Shapes
from nanolint.memory.replay import summits
from nanolint.memory.tape import Tape
from nanolint.memory.training import train
from nanolint.run.model import Attention, Run

TABLE = Path(__file__).parents[2] / "validation" / "recorded" / "compiled.json"
ROWS: list[dict[str, Any]] = json.loads(TABLE.read_text())
LIMITED = [row for row in ROWS if "least_limit" in row]

ALLOCATED = 0.01
RESERVED = 0.05


@cache
def tape_of(index: int) -> Tape:
    """The row's run, on the card that it was recorded for."""
    row = ROWS[index]
    run = Run(
        batch_size=row["batch_size"],
        gradient_accumulation_steps=row["grad_accum"],
        world_size=1,
        block_size=row["block_size"],
        n_layer=row["n_layer"],
        n_head=row["n_head"],
        n_embd=row["n_embd"],
        vocab_size=row["vocab_size"],
        dropout=row["dropout"],
        bias=row["bias"],
        dtype=row["dtype"],
        compile=True,
        init_from="scratch",
        device="cuda",
        attention=Attention(row["attention"]),
    )
    shapes, tape = replace(Shapes.of(run), workspace_bytes=0, sm_count=46), Tape()
    train(run, shapes, Compiled(shapes, tape), tape)
    return tape


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
def test_every_phase_peaks_within_one_percent(index: int) -> None:
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
def test_reserved_peaks_within_five_percent(index: int) -> None:
    reserved = play(tape_of(index)).peak_reserved_bytes
    assert reserved == pytest.approx(ROWS[index]["reserved"], rel=RESERVED)


@pytest.mark.parametrize("index", range(len(ROWS)), ids=map(name, ROWS))
def test_memory_allocated_peaks_within_one_percent(index: int) -> None:
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
    assert play(tape, limit_bytes=int(limit * (1 + RESERVED))).refusal is None
    assert play(tape, limit_bytes=int(limit * (1 - RESERVED))).refusal is not None
