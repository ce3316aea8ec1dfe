"""What an H200 took, beside what nanolint says of the same runs.

``validation/measure_gpu.py`` and ``validation/measure_scripts.py`` measure it anew, on a card.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.recording.recording import recorded
from nanolint.verdict.replay import Replay, replay
from nanolint.verdict.timed import padding
from tests.support.explained import explained
from tests.support.repository import ROOT
from tests.support.rows import each_row
from validation import measured
from validation.measure_scripts import texts
from validation.record_variations import digest_of

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.run import Run

FOLDER = ROOT / "validation" / "recorded" / "gpu"
TABLE = json.loads((FOLDER / "h200.json").read_text(encoding="utf-8"))
RELEASE: str = TABLE["card"]["torch"]
GPU = measured.card(TABLE["card"])
CASES = {
    f"{each['case']['name']} {'compiled' if each['case']['compile'] else 'eager'}": each
    for each in TABLE["results"]
    if "phases" in each
}
MIB = 1 << 20
RESERVED_MORE = {
    # Which of two free blocks of one size is taken depends on where the driver has put them.
    "one-sequence eager": 20 * MIB,
    "odd-shapes eager": 2 * MIB,  # in the fourth step, which was not measured
}

SCRIPTS = json.loads((FOLDER / "h200-scripts.json").read_text(encoding="utf-8"))["scripts"]
RAN = {name: row for name, row in SCRIPTS.items() if row.get("requested")}
TEXTS = texts(["composed:101-159:2", "composed:812-842:2", "variations:kinds"])
# Of what is asked for once torch.compile has timed its kernels: opt_einsum is installed there.
OTHER_BYTES = {"kinds: state space duality": 9_437_184}
NO_NUMBER = {"kinds: an hourglass"}
IN_DOUBT = {
    *("composed: 816", "composed: 828", "composed: 830"),
    *("kinds: a memory of the segment before", "kinds: parallel blocks, the loss in checkpoints"),
}


def run_of(name: str) -> Run:
    return measured.run_of(CASES[name]["case"], GPU, RELEASE)


def replayed(name: str) -> Replay:
    limit = CASES[name]["case"]["limit_gib"]
    return replay(run_of(name), GPU, limit_bytes=limit and int(limit * (1 << 30)))


@each_row("runs_on_a_card", CASES)
def test_nanogpt_takes_what_it_took_on_the_card(name: str) -> None:
    """If it ran out of memory there: what it asked for last, and what it held."""
    died, told = CASES[name]["oom"], replayed(name).oom
    assert (told is not None) is bool(died)
    if told is not None:
        said = re.search(r"Tried to allocate ([\d.]+ GiB)", died)
        held = re.search(r"Of the allocated memory ([\d.]+ GiB)", died)
        assert said is not None
        assert said[1] == f"{told.requested_bytes / (1 << 30):.2f} GiB"
        if held is not None:  # what was kept of some messages ends before
            gib = float(held[1].split()[0])
            assert told.allocated_bytes / (1 << 30) == pytest.approx(gib, abs=0.011)
    peak, (allocated, reserved) = replayed(name).peak, measured.taken(CASES[name])
    if name.endswith("eager"):
        assert peak.allocated_bytes == allocated
        assert peak.reserved_bytes == reserved + RESERVED_MORE.get(name, 0)
        return
    # Kernels are timed with a buffer of twice the second-level cache, and padded products, too.
    timing = 2 * TABLE["card"]["l2_bytes"]
    if CASES[name]["case"]["vocab_size"] == 50257:
        timing += recorded(run_of(name), GPU).answer(padding)
    assert -timing <= peak.allocated_bytes - allocated <= 0
    assert -timing <= peak.reserved_bytes - reserved <= 20 * MIB


@each_row("scripts_on_a_card", RAN)
def test_a_script_takes_what_it_took_on_the_card(tmp_path: Path, name: str) -> None:
    row, text = RAN[name], TEXTS[name]
    assert row["text"] == digest_of(text)
    found: dict[str, Any] = explained(tmp_path, text, "--torch-version", "2.11", card="h200")
    if name in NO_NUMBER:
        assert found.get("peak") is None
        return
    sure = found["trust"] == "read" and found["doubts"] == []
    assert sure is (name not in IN_DOUBT)
    peak = found["peak"]
    assert peak["allocated_bytes"] == row["settled"] + OTHER_BYTES.get(name, 0)
    if row["settled"] == row["requested"] and name.startswith("composed") and is_eager(name):
        assert peak["reserved_bytes"] == row["reserved"]


def is_eager(name: str) -> bool:
    """Whether a composed script is not compiled."""
    return int(name.split(": ")[1]) % 2 == 1
