"""NL415 where it is the processes that do not divide: what to write, or which total does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.unit.trainers.written_scripts import script

DIVIDED = """
import os
B, T, accumulation = 16, 256, 4
world = int(os.environ.get("WORLD_SIZE", 1))
assert accumulation % world == 0
passes = accumulation // world
"""
TOTAL = """
import os
B, T, total = 4, 64, 256
world = int(os.environ.get("WORLD_SIZE", 1))
assert total % (B * T * world) == 0
passes = total // (B * T * world)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def checked(settings: str, *options: str) -> str:
    Path("train.py").write_text(script(settings), encoding="utf-8")
    return nanolint("train.py", "--select=NL415", "--world-size=8", *options).out


def test_an_accumulation_that_the_processes_do_not_divide_is_raised() -> None:
    out = checked(DIVIDED)
    assert "4 is not a multiple of 8" in out
    assert "B = 8, accumulation = 8 divides it, with the step of one process" in out
    checked(DIVIDED, "--fix", "--unsafe-fixes")
    assert "B, T, accumulation = 8, 256, 8\n" in Path("train.py").read_text(encoding="utf-8")
    out = nanolint("explain", "train.py", "--world-size=8").out
    assert "a step                    64        sequences, 16,384 tokens" in out


def test_where_nothing_divides_the_smallest_total_is_told() -> None:
    out = checked(TOTAL)
    told = "no B up to 4 divides it with 8 processes; total = 2048 is the smallest"
    assert told in out
    assert "NL415" not in nanolint("train.py", "--select=NL415", "--world-size=1").out
    larger = TOTAL.replace("total = 4, 64, 256", "total = 4, 64, 2048")
    assert "NL415" not in checked(larger)
