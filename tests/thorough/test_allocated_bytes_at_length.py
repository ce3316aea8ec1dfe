"""The allocated peak, found without playing the tape, is that of the replay.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanolint.recording.recording import allocated_bytes
from nanolint.verdict.replay import replay
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
        {"n_layer": 30},
    ],
    ids=str,
)
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "eager"])
@pytest.mark.parametrize("run", [SMALL, GPT2], ids=["small", "gpt2"])
def test_it_is_the_peak_of_the_replay(run: Run, compiled: bool, changes: dict[str, Any]) -> None:
    changed = run.having(compile=compiled, **changes)
    assert allocated_bytes(changed) == replay(changed).peak.allocated_bytes
