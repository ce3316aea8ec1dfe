"""Every command of README.md, on a project like nanoGPT's and on a script with argparse."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.journey import assert_told, for_script, nanogpt, own_script, why_not_run
from tests.support.page_commands import README, commands

if TYPE_CHECKING:
    from pathlib import Path

RUN = [each for each in commands(README) if why_not_run(each) is None]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are a shell's")


def test_the_readme_has_commands_that_are_run() -> None:
    assert all("nanolint" in each.split()[0] for each in RUN), "say in NOT_RUN why another is not"
    assert len(RUN) > 3


@pytest.mark.parametrize("command", RUN)
def test_in_a_project_like_nanogpts(command: str, tmp_path: Path, program: Path) -> None:
    assert_told(command, nanogpt(tmp_path / "project"), program)


@pytest.mark.parametrize("command", [each for each in map(for_script, RUN) if each])
def test_of_a_script_with_argparse(command: str, tmp_path: Path, program: Path) -> None:
    assert_told(command, own_script(tmp_path / "project"), program)
