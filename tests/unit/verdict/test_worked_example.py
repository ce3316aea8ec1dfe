"""The worked example of docs/architecture.md: its script makes the events that the page lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.recording.recording import allocated_peak
from nanolint.report.explanation import case_of
from nanolint.tape.tape import Tape
from nanolint.verdict.lines import located_run
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
UNITS = {"B": 1, "MiB": 1 << 20}


def block(name: str) -> str:
    found = re.search(rf"<!-- worked example: {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def recorded(script: Path) -> Tape:
    script.write_text(block("script"), encoding="utf-8")
    case, _ = case_of(script.read_text(encoding="utf-8"), script, "rtx-4070")
    assert case.run is not None
    assert case.target is not None
    tape = located_run(case.run, case.target.gpu)
    assert isinstance(tape, Tape)
    return tape


def test_the_tape_begins_with_the_events_that_the_page_lists(tmp_path: Path) -> None:
    tape = recorded(tmp_path / "train.py")
    listed: list[int] = []
    for line in block("tape").splitlines():
        here = [int(n) if sign == "+" else ~int(n) for sign, n in re.findall(r"([+-])(\d+)", line)]
        size = re.search(r"([\d.]+) (MiB|B)\b", line)
        if size is not None:
            taken = sum(tape.sizes[each] for each in here if each >= 0)
            assert abs(float(size[1]) - taken / UNITS[size[2]]) < 0.01, line
        listed += here
    assert tape.events[: len(listed)] == listed


def test_the_page_has_the_peak(tmp_path: Path) -> None:
    peak = allocated_peak(recorded(tmp_path / "train.py"))
    assert f"{peak / UNITS['MiB']:.2f} MiB" in PAGE
