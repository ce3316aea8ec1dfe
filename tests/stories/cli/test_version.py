"""Versions: short for scripts, long for bug reports."""

from __future__ import annotations

import platform

import nanolint as package
from tests.support.command import nanolint


def test_short() -> None:
    assert nanolint("--version").out == f"nanolint {package.__version__}\n"


def test_what_matters_for_a_bug_report() -> None:
    outcome = nanolint("version")
    assert outcome.status == 0
    rows = dict(line.split(maxsplit=1) for line in outcome.out.splitlines())
    assert rows["python"].startswith(platform.python_version())
    assert rows["libcst"][0].isdigit()
    assert nanolint("--version", "--verbose").out == outcome.out
