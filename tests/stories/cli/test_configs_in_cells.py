"""A config that a notebook's cell writes: the run takes its values, and they are fixed there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.support.project_tree import write_project

GPU = ("--gpu=rtx-3060-12gb", "--select=NL1")
CONFIG = """\
# é "large"

batch_size = <B>  # per GPU
gradient_accumulation_steps = <A>
dtype = 'bfloat16'"""
LAUNCH = "!python train.py config/cell.py"


@pytest.fixture(autouse=True)
def project() -> None:
    write_project(Path())


def notebook(*cells: str | list[str], indent: int | None = 1) -> str:
    content: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [{"text": ["é\n"]}], "source": cell}
        for cell in cells
    ]
    return json.dumps(
        {"cells": content, "metadata": {"kernelspec": "≠"}, "nbformat": 4}, indent=indent
    )


def large(first: str = "%%writefile config/cell.py", batch: str = "64", passes: str = "64") -> str:
    return f"{first}\n{CONFIG}".replace("<B>", batch).replace("<A>", passes)


def write(*cells: str | list[str]) -> None:
    Path("x.ipynb").write_text(notebook(*cells), encoding="utf-8")


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


@pytest.mark.parametrize(
    "cells",
    [
        (large("%%writefile -a config/cell.py"),),
        (large(), "!echo 'batch_size = 1' >> config/cell.py"),
        (large(), large("%%file -a config/cell.py")),
    ],
)
def test_what_is_appended_to_is_not_checked(cells: tuple[str, ...]) -> None:
    write(*cells, LAUNCH)
    outcome = nanolint("x.ipynb", *GPU)
    assert "not checked: config/cell.py is a file that the script itself writes" in outcome.err
    assert "does not fit" not in outcome.out


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
