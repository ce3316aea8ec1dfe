"""Hostile input: soon over, one clear line, and the other files are judged all the same."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.support import guard
from tests.support.hostile_cases import CASES, FINDING, GOOD, GOOD_TEXT, Case

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hostile_input_is_survived(case: Case, tmp_path: Path) -> None:
    if case.obey_modes and not guard.can_obey_modes():
        pytest.skip("root may read everything, and setpriv is missing")
    (tmp_path / GOOD).write_text(GOOD_TEXT)
    case.plant(tmp_path)
    ended = guard.judge(tmp_path, case)
    assert ended.status == case.status, ended
    assert "Traceback" not in ended.err
    assert "internal error" not in ended.err
    if case.line is not None:
        assert sum(case.line in line for line in ended.lines) == 1, ended
    assert any(FINDING in line for line in ended.lines) is not case.alone, ended
