"""How long a check takes in an agent's loop: a script that is edited and checked before each run.

    python benchmarks/agent.py path/to/autoresearch

nanolint is installed from a wheel of this checkout, and a public linter from PyPI; both check the
same train.py in turns. Before each round the micro-batch is changed, in one copy alone and in
another the model, too, so that nothing is remembered from the last. The table in docs/agents.md is
written anew: medians over the rounds, the ratio to the peer of the same round.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from run import ROOT, environment, install, write_table

ROUNDS = 7
PAGE = ROOT / "docs" / "agents.md"
PEER = "torchfix"
CARD, JSON = "--gpu=rtx-4090", "--output-format=json-full"
RUNS = "NL001,NL1,NL414,NL415,NL417"  # what keeps a script from running
SIZES = (128, 24, 96, 16, 48, 32, 64, 8)
BATCH = re.compile(r"^(DEVICE_BATCH_SIZE = )\d+", re.MULTILINE)
SQUARED = "x = F.relu(x).square()"
GATES = ("gelu", "silu", "relu", "tanh", "sigmoid", "elu", "softplus", "leaky_relu")


class Taken(NamedTuple):
    """Seconds of one command: of the wall, and of the processor."""

    wall: float
    processor: float


def measured(command: tuple[str, ...], folder: Path) -> Taken:
    """What one command takes."""
    began, used = time.perf_counter(), os.times()
    process = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: {process.stderr}")
    after = os.times()
    processor = after.children_user + after.children_system
    return Taken(
        time.perf_counter() - began,
        processor - used.children_user - used.children_system,
    )


def copied(checkout: Path, folder: Path) -> Path:
    """A copy of a checkout."""
    shutil.copytree(checkout, folder, ignore=shutil.ignore_patterns(".git", ".venv"))
    (folder / ".git").mkdir()
    return folder


def main() -> None:
    """Measure the commands in turns, and write a table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("checkout", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        own, peer = install(home / "own", str(ROOT)), install(home / "peer", PEER)
        check = (str(own / "nanolint"), "train.py", CARD, JSON)
        sizes, models = copied(given.checkout, home / "sizes"), copied(given.checkout, home / "m")
        text = (sizes / "train.py").read_text(encoding="utf-8")
        if SQUARED not in text:
            raise SystemExit(f"{given.checkout} is not autoresearch as it is published")
        commands = {
            "`python -c pass`": ((str(own / "python"), "-c", "pass"), sizes),
            f"`{PEER} train.py`": ((str(peer / PEER), "train.py"), sizes),
            "`--select`, another micro-batch": ((*check, "--select", RUNS), sizes),
            "every rule, another micro-batch": (check, sizes),
            "`--select`, another model": ((*check, "--select", RUNS), models),
            "every rule, another model": (check, models),
        }
        found: dict[str, list[Taken]] = {each: [] for each in commands}
        for number in range(ROUNDS + 1):
            changed = BATCH.sub(rf"\g<1>{SIZES[number]}", text)
            (sizes / "train.py").write_text(changed, encoding="utf-8")
            changed = changed.replace(SQUARED, f"x = F.{GATES[number]}(x) * x")
            (models / "train.py").write_text(changed, encoding="utf-8")
            for label, (command, folder) in commands.items():
                figures = measured(command, folder)
                if number:  # the first round does not count
                    found[label].append(figures)
    rows = [
        "| command | seconds | of the processor | of the peer's, in the same round |",
        "|---|---|---|---|",
    ]
    theirs = found[f"`{PEER} train.py`"]
    for label, taken in found.items():
        wall, processor = (statistics.median(column) for column in zip(*taken, strict=True))
        pairs = zip(taken, theirs, strict=True)
        ratio = statistics.median(one.processor / other.processor for one, other in pairs)
        rows.append(f"| {label} | {wall:.2f} | {processor:.2f} | {ratio:.2f} |")
    write_table("agent", rows, PAGE)


if __name__ == "__main__":
    main()
