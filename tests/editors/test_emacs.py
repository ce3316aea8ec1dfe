"""A session in a real Emacs, with the recipe that the documentation gives; skipped without one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.sitting import FIXED, environment, project, recipe

SESSION = Path(__file__).with_name("emacs_session.el")
FIND_EGLOT = "(progn (require 'package) (package-initialize) (require 'eglot))"
# Names within Eglot differ from version to version; the session uses those of 1.9.
EGLOT = re.compile(r"eglot-1\.9\b")
SECONDS = 120


@pytest.fixture
def emacs() -> str:
    program = shutil.which("emacs")
    if program is None:
        pytest.skip("Emacs is not installed")
    where = '(princ (locate-library "eglot"))'
    command = [program, "-q", "--batch", "--eval", FIND_EGLOT, "--eval", where]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if EGLOT.search(run.stdout) is None:
        pytest.skip("Emacs is installed without Eglot 1.9")
    return program


def test_emacs_shows_the_error_and_applies_the_fix(emacs: str, tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    init = tmp_path / "init.el"
    init.write_text(recipe("emacs"), encoding="utf-8")
    run = subprocess.run(
        [emacs, "-q", "--batch", "--eval", FIND_EGLOT, "-l", str(init), "-l", str(SESSION)],
        cwd=root,
        env=environment(tmp_path / "home"),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert (root / "config.py").read_text(encoding="utf-8") == FIXED
