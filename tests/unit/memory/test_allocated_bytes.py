"""The allocated peak, found without playing the tape, is that of the replay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.memory.moments import summits
from nanolint.memory.recording import allocated_bytes, state_bytes
from nanolint.memory.tape import Component, Phase, Tape
from nanolint.memory.verdict.replay import replay
from tests.support.runs import GPT2, SMALL

if TYPE_CHECKING:
    from nanolint.run.run import Run


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"gradient_accumulation_steps": 1},
        {"gradient_accumulation_steps": 7},
        {"max_iters": 0, "gradient_accumulation_steps": 3},
        {"max_iters": 1},
        {"eval_only": True},
        {"eval_interval": 0},
        {"dtype": "float16"},
        {"dtype": "float32"},
        {"dropout": 0.1},
        {"init_from": "resume"},
        {"world_size": 2},
        {"device": "cpu"},
        {"n_layer": 300},
    ],
    ids=str,
)
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "eager"])
@pytest.mark.parametrize("run", [SMALL, GPT2], ids=["small", "gpt2"])
def test_it_is_the_peak_of_the_replay(run: Run, compiled: bool, changes: dict[str, Any]) -> None:
    changed = replace(run, compile=compiled, **changes)
    assert allocated_bytes(changed) == replay(changed).peak.allocated_bytes


@pytest.mark.parametrize("changes", [{}, {"eval_only": True}, {"max_iters": 0}, {"compile": False}])
def test_it_is_little_more_than_what_must_be_there_where_a_batch_is_one_token(
    changes: dict[str, Any],
) -> None:
    run = replace(GPT2, batch_size=1, block_size=1, **changes)
    assert state_bytes(run) <= allocated_bytes(run) <= 2 * state_bytes(run)


def test_what_is_there_before_the_first_phase_counts() -> None:
    tape = Tape()
    tape.alloc(512, "made with the model", Component.INPUTS)
    tape.phase(Phase.FORWARD)
    tape.alloc(1024, "a batch", Component.INPUTS)
    assert summits(tape, len(tape.events))[Phase.FORWARD][0] == 512 + 1024
