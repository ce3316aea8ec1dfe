"""What a cold check costs that reads nanoGPT from its texts, beside one that replays it by heart.

    python benchmarks/own.py [CONFIG]    # processor seconds, each the least of five

The project of CONFIG has to be nanoGPT's own; without one it is that of an example.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "fits"
WAYS = ("replayed", "read")
TIMES = 5


def check(way: str, config: Path) -> None:
    """One check in this process."""
    sys.path.insert(0, str(ROOT))
    from nanolint.cli.main import main
    from nanolint.memory import recording

    recording.READS_OWN = way == "read"
    sys.exit(main(["--gpu", "rtx-4070", str(config)]))


def seconds(way: str, config: Path) -> float:
    """The processor time of a process that checks."""
    before = os.times()
    subprocess.run(
        [sys.executable, __file__, "--one", way, str(config)],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    after = os.times()
    return (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Cold checks, read and replayed")
    parser.add_argument("--one", choices=WAYS)
    parser.add_argument("config", type=Path, nargs="?", default=EXAMPLE)
    arguments = parser.parse_args()
    if arguments.one:
        check(arguments.one, arguments.config)
    least = {way: min(seconds(way, arguments.config) for _ in range(TIMES)) for way in WAYS}
    for way, each in least.items():
        print(f"{way}: {each:.2f} s")
    print(f"ratio {least['read'] / least['replayed']:.2f}")


if __name__ == "__main__":
    main()
