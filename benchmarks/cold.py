"""A cold check of one config: how often a run is read for it, and its time beside other checkouts'.

    python benchmarks/cold.py CONFIG [--command explain] [--gpu rtx-4090] [--beside CHECKOUT ...]

Each checkout is installed from a wheel into an environment of its own, as run.py does: what is
measured is the script that users start, with compiled modules, which keeps no readings. Times are
of the processor, each the least of some, in turns. Not on Windows.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

from run import ROOT, environment, install

TIMES = 10
CARD = "rtx-4070"
COUNT = """
import sys
from nanolint.recording import recording
read, record = [], recording._Recipe.record
def counted(recipe, asked):
    read.append(recipe.run.batch_size)
    return record(recipe, asked)
recording._Recipe.record = counted
from nanolint.cli.main import main
main(sys.argv[1:])
print(f"{len(read)} readings, of the micro-batches {read}")
"""


def run(*command: str) -> tuple[str, float]:
    """What a new process prints, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description="Cold checks")
    parser.add_argument("config", type=Path)
    parser.add_argument("--command", choices=("check", "explain", "fit"), default="check")
    parser.add_argument("--gpu", default=CARD, help="for the usual cards: all")
    parser.add_argument("--beside", type=Path, nargs="*", default=())
    arguments = parser.parse_args()
    card = () if arguments.gpu == "all" else ("--gpu", arguments.gpu)
    words = arguments.command, *card, str(arguments.config.resolve())
    roots = dict.fromkeys(each.resolve() for each in (ROOT, *arguments.beside))
    with tempfile.TemporaryDirectory() as name:
        programs = {
            root: install(Path(name) / str(number), str(root)) for number, root in enumerate(roots)
        }
        own = programs[ROOT.resolve()]
        print(run(str(own / "python"), "-c", COUNT, *words)[0].splitlines()[-1])
        taken: dict[Path, list[float]] = {root: [] for root in programs}
        for number in range(TIMES + 1):
            for root, times in taken.items():
                seconds = run(str(programs[root] / "nanolint"), *words)[1]
                times += [seconds] if number else []  # the first round does not count
    least = min(taken[ROOT.resolve()])
    for root, times in taken.items():
        print(f"{root}: {min(times):.3f} s, {least / min(times):.2f} of it here")


if __name__ == "__main__":
    main()
