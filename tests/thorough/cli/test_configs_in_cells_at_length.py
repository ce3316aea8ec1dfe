"""A config that a notebook's cell writes: the run takes its values, and they are fixed there.

These take seconds each.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.stories.cli.test_configs_in_cells import GPU, LAUNCH, large, notebook, project, write
from tests.support.command import nanolint


@pytest.mark.parametrize("magic", ["%%writefile", "%%file"])
def test_a_finding_stands_on_the_line_of_the_cell(magic: str) -> None:
    cell = large(f"{magic} config/cell.py").splitlines(keepends=True)
    write(cell, LAUNCH)
    found = json.loads(nanolint("x.ipynb", *GPU, "--output-format=json").out)
    rows = Path("x.ipynb").read_text(encoding="utf-8").splitlines()
    (finding,) = [each for each in found if each["code"] == "NL102"]
    assert finding["filename"].endswith("x.ipynb")
    assert "batch_size = 64" in rows[finding["location"]["row"] - 1]


@pytest.mark.parametrize("command", ["explain", "fit"])
def test_other_commands_take_its_values(command: str) -> None:
    card = "--gpu=rtx-3060-12gb"
    answers = []
    for batch in ("3", "4"):
        write(large(batch=batch), LAUNCH)
        by_cell = nanolint(command, "x.ipynb", card, "--format=json")
        flags = (f"--batch_size={batch}", "--gradient_accumulation_steps=64", "--dtype=bfloat16")
        write(f"!python train.py {' '.join(flags)}")
        assert by_cell.out == nanolint(command, "x.ipynb", card, "--format=json").out
        assert by_cell.status == 0
        answers.append(by_cell.out)
    assert answers[0] != answers[1]


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("passes", ["64", "8 * 8"])
@pytest.mark.parametrize("in_lines", [False, True])
def test_fix_edits_the_values_and_no_other_byte(
    indent: int | None, passes: str, in_lines: bool
) -> None:
    def text(cell: str) -> bytes:
        lines = cell.splitlines(keepends=True) if in_lines else cell
        return notebook("import os", lines, LAUNCH, indent=indent).encode()

    Path("x.ipynb").write_bytes(text(large(passes=passes)))
    nanolint("x.ipynb", *GPU, "--fix", "--fail-on=never")
    assert Path("x.ipynb").read_bytes() == text(large(batch="8", passes="512"))
    assert not Path("config/cell.py").exists()


__all__ = ["project"]  # fixtures
