"""Models that are read, against what PyTorch allocated for the same text (validation/models).

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nanolint.recording.recording import allocated_peak, record
from nanolint.run.run import Attention
from nanolint.tape.allocator.play import play
from nanolint.trainers.nanogpt.resolve import default_run
from tests.unit.memory.reading.test_against_torch import GPT, GPU, ROWS, peaks
from validation.read_models import digest, entries
from validation.record_read import TORCH, case_of


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_model_that_is_read_allocates_what_torch_does(row: dict[str, Any]) -> None:
    tape = case_of(row).read(GPU, TORCH)
    assert len(entries(tape)) == row["entries"]
    assert digest(tape) == row["digest"]
    assert allocated_peak(tape) == row["allocated"]


@pytest.mark.parametrize(
    "changes",
    [
        {"bias": True, "dropout": 0.2},
        {"dtype": "float16", "attention": Attention.EFFICIENT, "dropout": 0.1},
        {"dtype": "float32", "attention": Attention.EFFICIENT},
        {"attention": Attention.MATH, "dropout": 0.1, "bias": True},
        {"n_embd": 36, "n_head": 3, "gradient_accumulation_steps": 3, "eval_interval": 1},
        {"batch_size": 48, "block_size": 80, "init_from": "resume", "world_size": 2},
    ],
    ids=str,
)
def test_the_loop_around_a_model_and_a_script_read_whole_agree(
    changes: dict[str, Any],
) -> None:
    sizes: dict[str, Any] = {
        "batch_size": 3,
        "block_size": 40,
        "n_layer": 3,
        "n_head": 4,
        "n_embd": 64,
        "vocab_size": 300,
        "compile": False,
        "gradient_accumulation_steps": 2,
    }
    run = replace(default_run(), **{**sizes, **changes})
    whole = record(run, GPU)
    around = record(replace(run, program=GPT), GPU)
    assert peaks(around) == peaks(whole)
    assert play(around).peak_reserved_bytes == play(whole).peak_reserved_bytes
