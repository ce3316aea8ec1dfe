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
