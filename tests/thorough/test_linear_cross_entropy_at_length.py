"""The loss without the logits: a way out, and what it allocates.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace

from nanolint.recording.recording import allocated_peak, record
from nanolint.verdict.changes import Cost
from tests.support.runs import GPT2
from tests.unit.verdict.test_linear_cross_entropy import in_chunks, way_out


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
