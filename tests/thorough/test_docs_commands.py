"""Every command of docs/, on a project that has the files that they name."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.journey import assert_told, nanogpt, own_script, run, why_not_run
from tests.support.page_commands import DOCS, README, commands
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

AGENTS = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
(BRANCH,) = re.findall(r"```sh\n(git worktree .*?)```", AGENTS, re.DOTALL)  # a loop of many lines
SHOWN = dict.fromkeys(each for page in DOCS for each in commands(page))
ELSEWHERE = (*commands(README), *BRANCH.split("\n"))
RUN = [
    each for each in SHOWN if why_not_run(each) is None and each not in map(str.strip, ELSEWHERE)
]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are a shell's")


@pytest.mark.parametrize("command", RUN)
def test_a_command_of_the_docs(command: str, tmp_path: Path, program: Path) -> None:
    assert "nanolint" in command.split()[:2], "say in NOT_RUN why no test runs it"
    of_script = " train.py" in command and "config/" not in command
    project = (own_script if of_script else nanogpt)(tmp_path / "project")
    assert_told(command, project, program)


def test_each_commit_of_a_branch_is_asked(tmp_path: Path, program: Path) -> None:
    project = own_script(tmp_path / "project")
    (project / ".git").rmdir()
    script = project / "train.py"
    text = script.read_text(encoding="utf-8")

    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)

    git("init", "-b", "main")
    for name, new in (("first", text), ("narrow", text.replace("AdamW(", "AdamW(lrr=1, "))):
        script.write_text(new, encoding="utf-8")
        git("add", "train.py")
        git("commit", "-m", name)
        if name == "first":
            git("checkout", "-b", "mine")
            git("commit", "--allow-empty", "-m", "second")
    said = [line.split() for line in run(BRANCH, project, program).out.splitlines()]
    assert [(each[0], each[2]) for each in said] == [("runs", "second"), ("stops", "narrow")]
