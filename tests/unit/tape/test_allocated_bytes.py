"""The allocated peak, found without playing the tape, is that of the replay."""

from __future__ import annotations

from typing import Any

import pytest

from nanolint.recording.recording import allocated_bytes, state_bytes
from nanolint.tape.tape import Component, Phase, Tape, summits
from tests.support.runs import GPT2


@pytest.mark.parametrize("changes", [{}, {"eval_only": True}, {"max_iters": 0}, {"compile": False}])
def test_it_is_little_more_than_what_must_be_there_where_a_batch_is_one_token(
    changes: dict[str, Any],
) -> None:
    run = GPT2.having(batch_size=1, block_size=1, **changes)
    assert state_bytes(run) <= allocated_bytes(run) <= 2 * state_bytes(run)


def test_what_is_there_before_the_first_phase_counts() -> None:
    tape = Tape()
    tape.alloc(512, "made with the model", Component.INPUTS)
    tape.phase(Phase.FORWARD)
    tape.alloc(1024, "a batch", Component.INPUTS)
    assert summits(tape, len(tape.events))[Phase.FORWARD][0] == 512 + 1024
