"""Loops that drop some of their rows, as only a run tells which; and modules named by texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import trained_on

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import random
import numpy as np
import torch, torch.nn as nn
from torch.nn import functional as F
device = torch.device("cuda")
rng = np.random.default_rng(42)
known = set()
def one():
    return rng.choice(np.arange(5), size=LENGTH)
MADE
def batch():
    items = rows(8)
    x = np.full((len(items), 128), 0, dtype=np.int64)
    for b, item in enumerate(items):
        if len(item) > 128:
            raise ValueError(f"{len(item)} are too many")
        x[b, : len(item)] = item
    return torch.from_numpy(x)
"""
SCRIPT += trained_on("batch()")
PLAIN = """
def rows(n):
    return [one() for _ in range(n)]
"""
DROPS = """
def rows(n):
    out, seen = [], set()
    for _ in range(n):
        item = one()
        if item.tobytes() in seen:
            continue
        seen.add(item.tobytes())
        out.append(item)
    return out
"""
COUNTS = """
def rows(n):
    kept = 0
    for _ in range(n):
        if one().tobytes() in known:
            continue
        kept += 1
    return [one() for _ in range(kept)]
known.add(one().tobytes())
"""
FILLS = DROPS.replace("for _ in range(n):", "while len(out) < n:")
FILLS_IF = """
def rows(n):
    out = []
    while len(out) < n:
        item = one()
        if item.tobytes() not in known:
            out.append(item)
    return out
known.add(one().tobytes())
"""
DRAWS = """
def rows(n):
    return random.sample([one() for _ in range(100)], n)
"""


def _script(made: str, length: int = 16) -> str:
    return SCRIPT.replace("MADE", made).replace("LENGTH", str(length))


@pytest.mark.parametrize("made", [DROPS, COUNTS])
def test_how_many_rows_are_left_is_not_known(tmp_path: Path, made: str) -> None:
    assert explained(tmp_path, _script(PLAIN))["trust"] == "read"
    assert explained(tmp_path, _script(made))["trust"] != "read"


@pytest.mark.parametrize("made", [FILLS, FILLS_IF, DRAWS])
def test_so_many_rows_as_are_asked_for(tmp_path: Path, made: str) -> None:
    plain = explained(tmp_path, _script(PLAIN))
    found = explained(tmp_path, _script(made))
    assert (found["trust"], found["peak"]) == ("read", plain["peak"])


@pytest.mark.parametrize("made", [FILLS, FILLS_IF])
def test_rows_are_as_long_as_those_that_are_made(tmp_path: Path, made: str) -> None:
    assert explained(tmp_path, _script(made, 200))["trust"] == "unknown"


BY_NAME = """
import importlib
def part(kind):
    return importlib.import_module(IMPORTED).WIDTH
"""


@pytest.mark.parametrize("imported", ['f"parts.{kind}"', '"parts." + kind', '"parts.wide"'])
def test_a_module_that_is_named_by_a_text(tmp_path: Path, imported: str) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "wide.py").write_text("WIDTH = 64\n", encoding="utf-8")
    plain = explained(tmp_path, _script(PLAIN))
    named = BY_NAME.replace("IMPORTED", imported)
    script = _script(PLAIN).replace("nn.Embedding(1000, 64)", "nn.Embedding(1000, part('wide'))")
    found = explained(tmp_path, named + script)
    assert (found["trust"], found["peak"]) == ("read", plain["peak"])
