"""``del logits``: the buffer dies early wherever nothing but the name holds it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.recording.events import write_own
from nanolint.recording.kernels import Kernels
from nanolint.recording.recording import card_of, record
from nanolint.script.played import representative
from nanolint.tape.tape import Phase, Tape
from nanolint.tensors.device import Asked
from nanolint.trainers.nanogpt.own import own_script
from nanolint.verdict.ways.logits import logits_deleted
from tests.support.runs import GPT2, SMALL

if TYPE_CHECKING:
    from nanolint.run.program import ReadScript
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


CALL = "logits, loss = model(X, Y)"


def recorded_with(run: Run, script: ReadScript) -> Tape:
    """The tape of a run whose texts are those of ``script``."""
    tape, run = Tape(), replace(representative(run), program=script)
    write_own(run, Kernels.of(run), Asked(card_of()), tape, compiled=run.compile)
    return tape


def deleting(run: Run) -> Tape:
    found = logits_deleted(own_script())
    assert found is not None
    return recorded_with(run, found.program)


def typed(run: Run, *calls: int) -> Tape:
    """With ``del logits`` written behind these calls of the model, as they stand in train.py."""
    script = own_script()
    main, model = script.modules
    parts = main.text.split(CALL)
    text = parts[0]
    for number, part in enumerate(parts[1:]):
        text += f"{CALL}{'; del logits' if number in calls else ''}{part}"
    return recorded_with(run, replace(script, modules=(replace(main, text=text), model)))


def saved(run: Run) -> dict[Phase, int]:
    before, after = peaks(record(run)), peaks(deleting(run))
    return {phase: before[phase] - after[phase] for phase in before}


def test_eager_each_peak_falls_by_the_buffers_that_only_names_hold() -> None:
    run = replace(GPT2, compile=False)
    buffer = run.logits_bytes
    assert saved(run) == {
        Phase.EVAL: buffer,
        Phase.FORWARD: buffer,
        Phase.BACKWARD: buffer,
        Phase.OPTIMIZER: buffer,
        Phase.EVAL_LATE: 2 * buffer,
    }


def test_compiled_the_backward_pass_still_starts_with_them() -> None:
    buffer = GPT2.logits_bytes
    less = saved(GPT2)
    assert less[Phase.BACKWARD] == 0
    assert less[Phase.EVAL] == buffer


def test_only_where_the_script_deletes_them() -> None:
    run = replace(GPT2, compile=False)
    buffer = run.logits_bytes
    before = peaks(record(run))

    def saved_by(call: int) -> set[Phase]:
        now = peaks(typed(run, call))
        return {phase for phase in before if before[phase] - now[phase] >= buffer}

    assert saved_by(0) == {
        Phase.EVAL,
        Phase.EVAL_LATE,
    }
    training = {Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER}
    # The loop's own logits are alive in a later evaluation too.
    assert saved_by(1) == training | {Phase.EVAL_LATE}


@pytest.mark.parametrize("compiled", [True, False])
def test_the_way_is_what_anyone_would_type(compiled: bool) -> None:
    run = replace(SMALL, compile=compiled, gradient_accumulation_steps=2)
    assert deleting(run).events == typed(run, 0, 1).events
