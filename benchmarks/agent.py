"""How long a check takes in an agent's loop: a script that is edited and checked before each run.

    python benchmarks/agent.py path/to/autoresearch

Before each check the micro-batch of its train.py is changed, in a copy, so that nothing is
remembered from the last. The median over the rounds of the wall's time and the processor's is
printed, beside an interpreter that does nothing; a busy machine lengthens the first alone.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 5
CARD = "--gpu=rtx-4090"
RUNS = "NL001,NL1,NL414,NL415,NL417"  # what keeps a script from running
JSON = "--output-format=json-full"
COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "every rule": ("-m", "nanolint", "train.py", CARD, JSON),
    f"--select {RUNS}": ("-m", "nanolint", "train.py", CARD, JSON, "--select", RUNS),
}
SIZES = (128, 96, 64, 48, 32)
BATCH = re.compile(r"^(DEVICE_BATCH_SIZE = )\d+", re.MULTILINE)


def measured(arguments: tuple[str, ...], folder: Path) -> tuple[float, float]:
    """Seconds of the wall, and of the processor, that one command takes."""
    began, used = time.perf_counter(), os.times()
    process = subprocess.run([sys.executable, *arguments], cwd=folder, stdout=subprocess.DEVNULL)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)}: exit status {process.returncode}")
    after = os.times()
    processor = after.children_user + after.children_system
    return (
        time.perf_counter() - began,
        processor - used.children_user - used.children_system,
    )


def main() -> None:
    """Measure the commands in turns, and print a table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("checkout", type=Path)
    given = options.parse_args()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "checkout"
        shutil.copytree(given.checkout, folder, ignore=shutil.ignore_patterns(".git", ".venv"))
        (folder / ".git").mkdir()
        script = folder / "train.py"
        text = script.read_text(encoding="utf-8")
        for number in range(ROUNDS + 1):
            size = SIZES[number % len(SIZES)]
            script.write_text(BATCH.sub(rf"\g<1>{size}", text), encoding="utf-8")
            for label, arguments in COMMANDS.items():
                figures = measured(arguments, folder)
                if number:  # the first compiles what is imported
                    found[label].append(figures)
    print("| command | seconds | of the processor |\n|---|---|---|")
    for label, pairs in found.items():
        wall, processor = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"| `{label}` | {wall:.2f} | {processor:.2f} |")


if __name__ == "__main__":
    main()
