"""``del logits``: the buffer dies early wherever nothing but the name holds it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.memory.recording import record
from nanolint.memory.shapes import Shapes
from nanolint.memory.tape import Phase
from tests.support.runs import GPT2, SMALL

if TYPE_CHECKING:
    from nanolint.memory.tape import Tape
    from nanolint.run.run import Run


def peaks(tape: Tape) -> dict[Phase, int]:
    """The most live bytes of each phase."""
    starts, phase, live = dict(tape.phases), Phase.EVAL, 0
    found: dict[Phase, int] = {}
    for number, event in enumerate(tape.events):
        phase = starts.get(number, phase)
        live += tape.sizes[event] if event >= 0 else -tape.sizes[~event]
        found[phase] = max(found.get(phase, 0), live)
    return found


def deleting(run: Run) -> Run:
    return replace(run, training_deletes_logits=True, evaluation_deletes_logits=True)


def saved(run: Run) -> dict[Phase, int]:
    before, after = peaks(record(run)), peaks(record(deleting(run)))
    return {phase: before[phase] - after[phase] for phase in before}


def test_eager_each_peak_falls_by_the_buffers_that_only_names_hold() -> None:
    run = replace(GPT2, compile=False)
    buffer = Shapes.of(run).logits_bytes
    assert saved(run) == {
        Phase.EVAL: buffer,
        Phase.FORWARD: buffer,
        Phase.BACKWARD: buffer,
        Phase.OPTIMIZER: buffer,
        Phase.EVAL_LATE: 2 * buffer,
    }


def test_compiled_the_backward_pass_still_starts_with_them() -> None:
    buffer = Shapes.of(GPT2).logits_bytes
    less = saved(GPT2)
    assert less[Phase.BACKWARD] == 0
    assert less[Phase.EVAL] == buffer


def test_only_where_the_script_deletes_them() -> None:
    run = replace(GPT2, compile=False)
    buffer = Shapes.of(run).logits_bytes
    before = peaks(record(run))

    def saved_by(changed: Run) -> set[Phase]:
        now = peaks(record(changed))
        return {phase for phase in before if before[phase] - now[phase] >= buffer}

    assert saved_by(replace(run, evaluation_deletes_logits=True)) == {
        Phase.EVAL,
        Phase.EVAL_LATE,
    }
    training = {Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER}
    # The loop's own logits are alive in a later evaluation too.
    assert saved_by(replace(run, training_deletes_logits=True)) == training | {Phase.EVAL_LATE}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("eval_only", [True, False])
def test_nothing_is_lost_and_nothing_freed_twice(
    compiled: bool, steps: int, eval_only: bool
) -> None:
    run = replace(SMALL, compile=compiled, gradient_accumulation_steps=steps, eval_only=eval_only)
    tape = record(run)
    early = record(deleting(run))
    assert early.sizes == tape.sizes
    alive: set[int] = set()
    for event in early.events:
        if event >= 0:
            alive.add(event)
        else:
            alive.remove(~event)
    assert [phase for _, phase in early.phases] == [phase for _, phase in tape.phases]
