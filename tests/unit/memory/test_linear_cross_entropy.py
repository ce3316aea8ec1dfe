"""The loss without the logits: a way out, and what it allocates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.memory.moments import summits
from nanolint.memory.recording import allocated_peak, record
from nanolint.memory.verdict.alternative import Alternative, Cost
from nanolint.memory.verdict.alternatives import Alternatives
from nanolint.memory.verdict.ways.loss import loss_in_chunks
from nanolint.trainers.nanogpt.own import own_script
from tests.support.runs import GPT2, card
from validation.accuracy import recorded, tape_of
from validation.record_releases import CARD

if TYPE_CHECKING:
    from nanolint.run.program import ReadScript
    from nanolint.run.run import Run

ROWS = [row for row in recorded("linear_cross_entropy") if not row["compile"]]
ERROR = 0.002  # scalars of each chunk, which are not replayed


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_each_phase_peaks_as_traced(row: dict[str, Any]) -> None:
    name = "linear_cross_entropy"
    tape = tape_of({**row, "card": CARD}, name, program=in_chunks(), max_iters=1)
    found = {phase.value: peak for phase, (peak, _) in summits(tape, len(tape.events)).items()}
    for phase in ("eval", "forward", "backward", "optimizer"):
        assert found[phase] == pytest.approx(row[phase], rel=ERROR, abs=0), phase


def in_chunks() -> ReadScript:
    found = loss_in_chunks(own_script())
    assert found is not None
    return found.program


def way_out(run: Run) -> Alternative | None:
    found = (each for each in Alternatives(run, card("rtx-3060")) if "linear" in each.change)
    return next(found, None)


def test_it_is_a_way_out_with_other_numerics_from_2_13_on() -> None:
    run = replace(GPT2, compile=False)
    found = way_out(run)
    assert found is not None
    assert found.change == "F.linear_cross_entropy (model.py)"
    assert found.cost is Cost.NUMERICS
    after = allocated_peak(record(replace(run, program=in_chunks())))
    saved = allocated_peak(record(run)) - after
    assert saved > 4 * run.batch_size * run.block_size * run.vocab_size
    assert way_out(replace(run, torch=(2, 12))) is None


def test_of_a_compiled_run_it_is_told_without_torch_compile() -> None:
    found = way_out(GPT2)
    assert found is not None
    assert found.change == "compile = False, F.linear_cross_entropy (model.py)"
