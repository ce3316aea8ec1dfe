"""A sync flag that comes too late, and the fixes that would make it matter.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.diagnostics import Severity
from tests.support.harness import Bench
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.rules.torch.test_late_gradient_sync import CONFIG, EARLY, LATE


@pytest.mark.parametrize(("steps", "severity"), [(8, Severity.ERROR), (2, Severity.WARNING)])
def test_an_error_where_several_micro_steps_are_known(
    tmp_path: Path, steps: int, severity: Severity
) -> None:
    root = write_project(tmp_path, {})
    bench = Bench(
        "NL418",
        path=root / "train.py",
        world_size=2,
        overrides={"gradient_accumulation_steps": steps},
    )
    assert bench.finding(train_script(loop=LATE)).severity is severity
    assert bench.findings(train_script(loop=EARLY)) == []


@pytest.mark.parametrize(("late", "offered"), [(LATE, False), (EARLY, True)])
def test_a_smaller_micro_batch_is_not_offered_where_it_would_stop_the_averaging(
    tmp_path: Path, late: str, offered: bool
) -> None:
    write_project(tmp_path, {"train.py": train_script(loop=late)})
    at = tmp_path / "config" / "small.py"
    bench = Bench("NL102", gpu="2GiB", path=at, world_size=2)
    found = bench.finding(CONFIG.format(2))
    assert (found.fix is not None) == offered
    assert any("stops averaging gradients" in note for note in found.notes) != offered
    # Broken as it is, and no more so by the fix; on one GPU there is nothing to average.
    assert bench.finding(CONFIG.format(4)).fix is not None
    assert Bench("NL102", gpu="2GiB", path=at).finding(CONFIG.format(1)).fix is not None
