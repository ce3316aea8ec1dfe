"""What the replay leaves out on purpose, and what that is worth on the recorded configurations.

    python validation/settling.py

Whether the micro-steps that it plays are enough for reserved bytes to settle: each configuration
is played with many more, too. And what counting whole blocks, as torch.cuda.memory_allocated does,
adds to the sum of the requests.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from accuracy import recorded, tape_of  # a script's neighbour

from nanolint.memory.allocator.play import play

ACCUMULATION = 40
LONG = (40, 40, 40)  # micro-steps of each step


def settling(name: str) -> str:
    """How reserved bytes change in a longer run, in a line."""
    changes = []
    for row in recorded(name):
        run = {"gradient_accumulation_steps": ACCUMULATION, "max_iters": 600_000}
        short = play(tape_of(row, name, **run)).peak_reserved_bytes
        longer = play(tape_of(row, name, LONG, **run)).peak_reserved_bytes
        changes.append(longer / short - 1)
    worst = max(changes, key=abs)
    differing = sum(map(bool, changes))
    return f"{name}: {differing} of {len(changes)} reserve another amount, the worst {worst:+.1%}"


def main() -> int:
    """Print a line for each figure."""
    print(settling("eager"))
    print(settling("compiled"))
    rests = [row["memory_allocated"] / row["overall"] - 1 for row in recorded("compiled")]
    print(
        f"whole blocks add {statistics.median(rests):.1%} in the median, {max(rests):.1%} at most"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
