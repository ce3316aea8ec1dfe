"""Every command of docs/, on a project that has the files that they name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.journey import assert_told, nanogpt, own_script, why_not_run
from tests.support.page_commands import DOCS, README, commands

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = dict.fromkeys(each for page in DOCS for each in commands(page))
RUN = [each for each in SHOWN if why_not_run(each) is None and each not in commands(README)]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are a shell's")


@pytest.mark.parametrize("command", RUN)
def test_a_command_of_the_docs(command: str, tmp_path: Path, program: Path) -> None:
    assert "nanolint" in command.split()[:2], "say in NOT_RUN why no test runs it"
    of_script = " train.py" in command and "config/" not in command
    project = (own_script if of_script else nanogpt)(tmp_path / "project")
    assert_told(command, project, program)
