"""When a fix of the micro-batch is made without asking, and when it is not.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.rules.memory.test_safety import CHOICES, bench, text


@pytest.mark.parametrize("written", CHOICES)
def test_a_choice_is_not_flattened_to_a_number_without_asking(written: str, tmp_path: Path) -> None:
    on = bench(tmp_path)
    found = on.finding(text(written))
    assert on.fixed(text(written)) == text(written)
    assert f"unsafe: one value would replace batch_size = {written}" in found.notes
    assert "batch_size = 4\n" in on.fixed(text(written), unsafe=True)


@pytest.mark.parametrize("processes", ["8", "$N", "gpu"])
def test_a_launch_must_be_able_to_share_the_accumulation(processes: str, tmp_path: Path) -> None:
    files = {"run.sh": f"cd ..\ntorchrun --nproc_per_node={processes} train.py config/base.py\n"}
    on, before = bench(tmp_path, files), text("9", steps=8)  # to be 4 x 18
    (note,) = [note for note in on.finding(before).notes if "unsafe" in note]
    count = processes if processes.isdecimal() else "a number of"
    assert on.fixed(before) == before
    assert note == (
        f"unsafe: run.sh:2 starts {count} processes, "
        "which must divide gradient_accumulation_steps = 18"
    )


@pytest.mark.parametrize(
    "line",
    ['out_dir = f"out-{batch_size}"', 'a = "x" + str(batch_size)', "a = b = f'{batch_size}'"],
)
def test_a_text_that_is_made_of_the_value_is_not_changed_without_asking(
    line: str, tmp_path: Path
) -> None:
    before = f"{text('64')}{line}\n"
    assert bench(tmp_path).fixed(before) == before
