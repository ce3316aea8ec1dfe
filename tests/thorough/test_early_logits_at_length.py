"""``del logits``: the buffer dies early wherever nothing but the name holds it.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.recording.recording import record
from tests.support.runs import SMALL
from tests.unit.script.test_early_logits import deleting


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("eval_only", [True, False])
def test_nothing_is_lost_and_nothing_freed_twice(
    compiled: bool, steps: int, eval_only: bool
) -> None:
    run = replace(SMALL, compile=compiled, gradient_accumulation_steps=steps, eval_only=eval_only)
    tape = record(run)
    early = deleting(run)
    assert early.sizes == tape.sizes
    alive: set[int] = set()
    for event in early.events:
        if event >= 0:
            alive.add(event)
        else:
            alive.remove(~event)
    assert [phase for _, phase in early.phases] == [phase for _, phase in tape.phases]
