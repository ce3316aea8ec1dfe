"""A project that means harm leaves no mark: neither by its interpreter nor by its script.

These take seconds each.
"""

from __future__ import annotations

import sys

import pytest

from tests.unit.trace.test_hostile_project import PYTHON, TRAINS, Project, project


@pytest.mark.parametrize("answer", ['{"torch": 3}', "no json", "[" * 100_000, '{"failed": [1]}'])
def test_what_is_no_answer_is_told_in_a_line(project: Project, answer: str) -> None:
    """An interpreter that writes where nanolint reads."""
    speaks = (
        f"#!{sys.executable} -I\nimport json, sys\n"
        f"print({answer!r}, file=open(json.loads(sys.argv[-1])['answer'], 'w'))\n"
    )
    project.write(".venv/bin/python", speaks)
    project.write("train.py", TRAINS)
    outcome = project.trace("--", "python", "train.py")
    assert outcome.status == 2
    assert outcome.error.count("\n") <= 1 and "internal error" not in outcome.error


@pytest.mark.cuda_torch
@pytest.mark.skipif(
    PYTHON is None, reason="NANOLINT_CUDA_PYTHON names no interpreter with a CUDA torch"
)
def test_a_script_and_what_hides_a_module_run_inside(project: Project) -> None:
    project.write("train.py", project.attack + TRAINS)
    project.write("warnings.py", project.attack)
    project.write("sitecustomize.py", project.attack)
    outcome = project.trace(f"--python={PYTHON}", "--", "PYTHONPATH=.", "python", "train.py")
    assert outcome.status == 0, outcome.err
    assert "3 optimizer steps" in outcome.out
    assert project.marks() == []
    assert "thrown away: /dev/shm/" in outcome.out


__all__ = ["project"]  # fixtures
