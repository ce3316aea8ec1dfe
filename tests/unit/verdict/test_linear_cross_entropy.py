"""The loss without the logits: a way out, and what it allocates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanolint.tape.tape import summits
from nanolint.trainers.nanogpt.own import own_script
from nanolint.verdict.alternatives import Alternatives
from nanolint.verdict.ways.logits import loss_in_chunks
from tests.support.runs import card
from validation.accuracy import recorded, tape_of
from validation.record_releases import CARD

if TYPE_CHECKING:
    from nanolint.run.program import ReadScript
    from nanolint.run.run import Run
    from nanolint.verdict.changes import Alternative

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
