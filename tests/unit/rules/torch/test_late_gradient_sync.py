"""A sync flag that comes too late, and the fixes that would make it matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.diagnostics import Severity
from tests.support.harness import Bench
from tests.support.project_tree import LOOP, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

BENCH = Bench("NL418")
FLAG = "model.require_backward_grad_sync = part == gradient_accumulation_steps - 1\n"
EARLY = LOOP.replace("        with ctx:", f"        {FLAG}        with ctx:")
LATE = LOOP.replace("        inputs, labels = get", f"        {FLAG}        inputs, labels = get")
SIZES = "block_size = 256\nn_layer = 2\nn_head = 4\nn_embd = 256\n"
CONFIG = f"batch_size = 64\ngradient_accumulation_steps = {{}}\n{SIZES}"


def loop(*lines: str) -> str:
    return "for i in steps:\n" + "".join(f"    {line}\n" for line in lines)


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
    assert any("stops averaging gradients (NL418)" in note for note in found.notes) != offered
    # Broken as it is, and no more so by the fix; on one GPU there is nothing to average.
    assert bench.finding(CONFIG.format(4)).fix is not None
    assert Bench("NL102", gpu="2GiB", path=at).finding(CONFIG.format(1)).fix is not None


def test_a_fix_that_the_lines_above_forbid() -> None:
    text = loop("loss = model(x)", "last = loss < 1", f"{FLAG.replace('part', 'last')}").rstrip()
    text = f"{text}\n    loss.backward()\n"
    assert BENCH.finding(text).fix is None


def test_a_line_that_it_shares() -> None:
    text = loop("loss = model(x)", f"{FLAG.strip()}; loss.backward()")
    assert BENCH.finding(text).fix is None


def test_two_models_in_one_loop() -> None:
    text = loop("a = model(x)", "a.backward()", FLAG.strip(), "b = other(x)", "b.backward()")
    assert BENCH.findings(text) == []
