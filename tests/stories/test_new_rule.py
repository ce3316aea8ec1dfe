"""The script that starts a rule, as docs/adding/rule.md tells a newcomer to use it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "rules", tmp_path / "rules")
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "new_rule.py", tmp_path / "scripts")
    return tmp_path


def new_rule(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    script = checkout / "scripts" / "new_rule.py"
    return subprocess.run([sys.executable, script, *words], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("NL301", "short-context", "config"), "NL301 is taken"),
        (("X1", "short-context", "config"), "a code is NL and three digits"),
        (("NL399", "Short", "config"), "a name is words with hyphens"),
        (("NL399", "short-context", "shapes"), "no topic shapes; there are config, gpu"),
        (("NL399",), "usage:"),
    ],
)
def test_what_cannot_be_a_rule_is_refused_in_one_line(
    checkout: Path, words: tuple[str, ...], problem: str
) -> None:
    refused = new_rule(checkout, *words)
    assert refused.returncode != 0
    assert problem in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
