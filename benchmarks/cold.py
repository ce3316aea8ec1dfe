"""A cold check of one config: how often a run is read for it, and its time beside other checkouts'.

    python benchmarks/cold.py CONFIG [--command explain] [--gpu rtx-4090] [--beside CHECKOUT ...]

Times are of the processor, each the least of some, in turns. The checkouts share this Python.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMES = 5
CARD = "rtx-4070"
CHECK = "from nanolint.cli.main import entry_point; entry_point()"
COUNT = """
from nanolint.memory import recording
read, record = [], recording._Recipe.record
def counted(recipe, asked):
    read.append(recipe.run.batch_size)
    return record(recipe, asked)
recording._Recipe.record = counted
from nanolint.cli.main import main
main(sys.argv[1:])
print(f"{len(read)} readings, of the micro-batches {read}")
"""


def run(root: Path, code: str, words: tuple[str, ...]) -> tuple[str, float]:
    """What a new process prints, and its processor time."""
    paths = [str(root), str(root / "rules")]
    before = os.times()
    done = subprocess.run(
        (sys.executable, "-c", f"import sys; sys.path[:0] = {paths}\n{code}", *words),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    after = os.times()
    return done.stdout, sum(after[2:4]) - sum(before[2:4])


def main() -> None:
    parser = argparse.ArgumentParser(description="Cold checks")
    parser.add_argument("config", type=Path)
    parser.add_argument("--command", choices=("check", "explain", "fit"), default="check")
    parser.add_argument("--gpu", default=CARD, help="for the usual cards: all")
    parser.add_argument("--beside", type=Path, nargs="*", default=())
    arguments = parser.parse_args()
    card = () if arguments.gpu == "all" else ("--gpu", arguments.gpu)
    words = arguments.command, *card, str(arguments.config.resolve())
    print(run(ROOT, COUNT, words)[0].splitlines()[-1])
    taken: dict[Path, list[float]] = {each.resolve(): [] for each in (ROOT, *arguments.beside)}
    for _ in range(TIMES):
        for root, times in taken.items():
            times.append(run(root, CHECK, words)[1])
    own = min(taken[ROOT.resolve()])
    for root, times in taken.items():
        print(f"{root}: {min(times):.2f} s, {own / min(times):.2f} of it here")


if __name__ == "__main__":
    main()
