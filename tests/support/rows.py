"""The recorded rows that a run of the tests checks, and how a row that differs names itself.

A run checks a fixed sample of each table: the names in sample.json. With NANOLINT_ROWS=all it
checks every row, with NANOLINT_ROWS=rest those that are not in the sample.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

SAMPLE = ROOT / "tests" / "tables" / "sample.json"


@cache
def sample() -> dict[str, list[str]]:
    """By table, the names of the rows that every run checks."""
    found: dict[str, list[str]] = json.loads(SAMPLE.read_text(encoding="utf-8"))
    return found


def each_row(table: str, names: Iterable[str]) -> Callable[[Any], Any]:
    """Parametrizes a test with ``name``: the rows of a table that this run checks."""
    every = list(names)
    chosen = set(sample()[table])
    unknown = chosen.difference(every)
    assert not unknown, f"{SAMPLE.name}: {table} has no row {sorted(unknown)}"
    asked = os.environ.get("NANOLINT_ROWS", "sample")
    kept = {
        "sample": [name for name in every if name in chosen],
        "rest": [name for name in every if name not in chosen],
        "all": every,
    }[asked]
    return lambda test: pytest.mark.rows(pytest.mark.parametrize("name", kept)(test))


def assert_row(name: str, anew: str, figures: Mapping[str, tuple[float, float, float]]) -> None:
    """Compares what was found with what was recorded: (found, recorded, relative tolerance).

    ``anew`` is the command that records the row again.
    """
    wrong = [
        f"{figure}: recorded {recorded:,}, found {found:,} ({found / (recorded or 1) - 1:+.4%})"
        for figure, (found, recorded, within) in figures.items()
        if abs(found - recorded) > within * abs(recorded)
    ]
    assert not wrong, "\n".join([name, *wrong, f"recorded by: {anew}"])
