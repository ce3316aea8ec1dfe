"""nanoGPT read from its texts, its graphs derived, against what PyTorch allocates when compiled.

torch 2.13.0, 46 SMs. The large table, to 1 %, is in test_compiled_table.py; these are held closer.
"""

from __future__ import annotations

from typing import Any

import pytest

from nanolint.memory.allocator.play import play
from nanolint.run.coverage import OLDEST_COMPILED
from validation import accuracy

DEEPEST = 3  # what is deeper takes longer and is no different, but for these
DEEP = {"default", "fact1", "shakespeare-char", "v65-bias", "v65-fp32", "seed-13", "seed-29"}
ROWS = [
    row for row in accuracy.recorded("compiled") if row["n_layer"] <= DEEPEST or row["name"] in DEEP
]
RELEASES = [
    row
    for row in accuracy.recorded("releases")
    if row["compile"] and accuracy.release_of(row) >= OLDEST_COMPILED and row["n_layer"] <= DEEPEST
]

ALLOCATED = 0.001
RESERVED = 0.02


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_every_phase_peaks_as_pytorch_does(row: dict[str, Any]) -> None:
    tape = accuracy.tape_of(row, "compiled")
    found = accuracy.phase_peaks(tape)
    assert len(found) == 5
    for phase, peak in found.items():
        assert peak == pytest.approx(row[phase], rel=0.005), phase
    assert max(found.values()) == pytest.approx(row["overall"], rel=ALLOCATED)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_the_allocator_reserves_what_pytorchs_does(row: dict[str, Any]) -> None:
    tape = accuracy.tape_of(row, "compiled")
    assert play(tape).peak_reserved_bytes == pytest.approx(row["reserved"], rel=RESERVED)


def name_of(row: dict[str, Any]) -> str:
    return f"{row['torch']}-{row['name']}"


@pytest.mark.parametrize("row", RELEASES, ids=name_of)
def test_older_and_newer_releases_peak_as_they_do(row: dict[str, Any]) -> None:
    tape = accuracy.tape_of(row, "releases")
    assert max(accuracy.phase_peaks(tape).values()) == pytest.approx(row["overall"], rel=0.005)
