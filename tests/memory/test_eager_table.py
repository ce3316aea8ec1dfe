"""The eager replay against the recorded oracle: byte for byte, cuBLAS's workspace left out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nanolint.memory.allocator import play
from nanolint.memory.eager import Eager
from nanolint.memory.program import Shapes
from nanolint.memory.replay import summits
from nanolint.memory.stream import Phase
from nanolint.memory.tape import Tape
from nanolint.memory.training import train
from nanolint.run.model import Attention, Run

TABLE = Path(__file__).parents[2] / "validation" / "recorded" / "eager.json"
ROWS: list[dict[str, Any]] = json.loads(TABLE.read_text())
PHASES = {
    Phase.EVAL: "eval",
    Phase.FORWARD: "train_forward",
    Phase.BACKWARD: "train_backward",
    Phase.OPTIMIZER: "optimizer",
}


def tape_of(row: dict[str, Any]) -> Tape:
    """The row's run as the oracle plays it: two steps, two batches per split, no workspace."""
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
        compile=False,
        init_from="scratch",
        device="cuda",
        attention=Attention(row["attention"]),
        max_iters=1,
    )
    shapes, tape = replace(Shapes.of(run), workspace_bytes=0), Tape()
    train(run, shapes, Eager(shapes, tape), tape)
    return tape


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
    tape = tape_of(row)
    found = summits(tape, len(tape.events))
    assert {PHASES[phase]: found[phase][0] for phase in found} == {
        phase: row[phase] for phase in PHASES.values()
    }
    assert max(peak for peak, _ in found.values()) == row["overall"]


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_the_allocator_reserves_what_the_oracles_does(row: dict[str, Any]) -> None:
    assert play(tape_of(row)).peak_reserved_bytes == row["reserved"]
