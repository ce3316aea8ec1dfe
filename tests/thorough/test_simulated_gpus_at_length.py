"""Spring 2023's train.py multiplies the accumulation where it runs without DDP.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.gpus.lookup import find
from nanolint.verdict.search import best_micro_batch
from tests.support.harness import Bench
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

from tests.unit.run.test_simulated_gpus import FIVE, SIMULATED, resolved


def test_the_fixer_keeps_what_a_step_sees(tmp_path: Path) -> None:
    run = resolved(tmp_path, SIMULATED)
    found = best_micro_batch([(run, find("rtx-3070"))])
    assert found is not None
    assert found.counts["batch_size"] < 12
    assert found.counts["batch_size"] * found.counts["gradient_accumulation_steps"] == 12 * 5
    script = train_script(settings=FIVE, world=SIMULATED)
    write_project(tmp_path, {"train.py": script})
    bench = Bench("NL102", gpu="rtx-3070", path=tmp_path / "config" / "x.py")
    text = "batch_size = 12\ngradient_accumulation_steps = 5\n"
    assert dict(bench.report(text).promise)["the effective batch"] == 480
    fixed = bench.fixed_by_all(text)
    assert fixed != text
    assert dict(bench.report(fixed).promise)["the effective batch"] == 480
