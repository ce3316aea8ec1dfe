"""The requests that PyTorch's allocator got on an H200, played on nanolint's model of it.

``validation/measure_scripts.py --events`` records them anew, on a card.
"""

from __future__ import annotations

import json
import lzma

from nanolint.tape.allocator.caching import Block, CachingAllocator
from nanolint.tape.tape import rounded
from tests.support.repository import ROOT
from tests.support.rows import each_row

FOLDER = ROOT / "validation" / "recorded" / "gpu"
MIB = 1 << 20
# Which of two free blocks of one size is taken depends on where the driver has put them.
OTHERWISE = {
    "one-sequence eager": 20 * MIB,
    "kinds: local and global layers, capped and sandwiched": -2 * MIB,
    "kinds: forgetting gates, in checkpoints": 2 * MIB,
    "kinds: parallel blocks, the loss in checkpoints": -2 * MIB,
    "kinds: gated recurrences by a scan": -2 * MIB,
}


def recorded() -> dict[str, list[int]]:
    """By the names of the runs: bytes, or how many places before a block was asked for."""
    with lzma.open(FOLDER / "h200-events.json.xz", "rt", encoding="utf-8") as file:
        found: dict[str, list[int]] = json.load(file)
    return found


def reserved() -> dict[str, int]:
    """What PyTorch reserved at the peak."""
    cases = json.loads((FOLDER / "h200.json").read_text(encoding="utf-8"))["results"]
    scripts = json.loads((FOLDER / "h200-scripts.json").read_text(encoding="utf-8"))["scripts"]
    found = {name: row["reserved"] for name, row in scripts.items() if "reserved" in row}
    for each in cases:
        if not each["case"]["compile"]:
            peak = max(phase["reserved"] for phase in each["phases"])
            found[f"{each['case']['name']} eager"] = peak
    return found


EVENTS, RESERVED = recorded(), reserved()


@each_row("allocator_on_a_card", EVENTS)
def test_the_allocator_reserves_what_pytorchs_did(name: str) -> None:
    allocator, blocks = CachingAllocator(), dict[int, Block]()
    for place, event in enumerate(EVENTS[name]):
        if event >= 0:
            blocks[place] = allocator.malloc(rounded(event))
        else:
            allocator.release(blocks.pop(place + event))
    assert allocator.peak_reserved == RESERVED[name] + OTHERWISE.get(name, 0)
