"""How many traces a profile would take if T were a second variable, against one for each T.

    python validation/second_variable.py

The replay stands for the traces: it has their events, to the byte for eager runs. What is counted
is what ``nanolint.trace.fit`` asks for: along the micro-batch at one T, and along T at one
micro-batch. A grid needs at least those that the regimes of the one are fitted on for each of those
of the other, with none held out and no threshold looked for.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.trace.fit import fit
from nanolint.trace.survey import FITTED, Point
from validation.accuracy import tape_of
from validation.record_compiled import HALF, shaped

if TYPE_CHECKING:
    from validation.oracle import Row

B, T = 12, 256
BATCHES, LENGTHS = (1, B, 4 * B), (16, T, 4 * T)
ROW = shaped("grid", (B, T, 2, 6, 384, 50304), 1, *HALF)


def count(key: str, wanted: tuple[int, ...], *, compiled: bool) -> tuple[int, int]:
    """The traces of a profile along one key, and those that its regimes are fitted on."""
    asked = list[int]()

    def trace(value: int, _steps: int) -> Point:
        asked.append(value)
        row: Row = {**ROW, "compile": compiled, "torch": "2.13", "card": "rtx-4070", key: value}
        tape = tape_of(row, "releases")
        tape.names = [re.sub(r"\d+", "", name) for name in tape.names]  # they have sizes in them
        return Point(value, 1, tape, tape.sizes)

    found = fit(trace, {1: wanted}, most=300)
    points = sum(min(FITTED, each.high - each.low + 1) for each in found.regimes)
    return len(asked), points


def main() -> int:
    """Count for an eager and a compiled run, and print it."""
    for compiled in (False, True):
        along_b, fitted_b = count("batch_size", BATCHES, compiled=compiled)
        along_t, fitted_t = count("block_size", LENGTHS, compiled=compiled)
        kind = "compiled" if compiled else "eager"
        grid = f"{fitted_b} x {fitted_t} = {fitted_b * fitted_t}"
        print(f"{kind}: {along_b} traces along B, {along_t} along T")
        print(f"  a grid takes {grid} at least, two profiles {2 * along_b}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
