"""Record what PyTorch allocates for small whole scripts: validation/recorded/read_scripts.json.

    python validation/record_scripts.py --python path/to/python   # that has PyTorch 2.13 for CUDA
    python validation/record_scripts.py --python path/to/python --torch 2.15

A line that ends with "# 2.15" is of that release, the others are of 2.13. The rows of based.py and
offsets.py need transformers there, too.
The scripts are those of validation/scripts: loops, optimizers and evaluations as people write them,
small enough that a run takes seconds. It says where reading gives other events.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.lookup import find
from nanolint.recording.recording import allocated_peak
from nanolint.trace.launch import read_command
from nanolint.trace.process import PretendedCard, Request, trace
from nanolint.trace.traced import Traced, read
from validation.oracle import Row, record
from validation.read_models import digest, entries, first_difference
from validation.read_scripts import Found, NotRead, read_whole

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
TABLE = HERE / "recorded" / "read_scripts.json"
CARD = "a100-80gb"
TORCH = "2.13"
LINES = (
    "python flags.py --layers=3",
    "python flags.py --batch-size=8 --dropout=0.1",
    "python muon.py",
    "python scaled.py",
    "python loaded.py",
    "torchrun --nproc_per_node=2 parallel.py",
    "torchrun --standalone --nproc_per_node=8 buckets.py",
    "torchrun --nproc_per_node=2 buckets.py --views --cap=1 --batch-size=2",
    "torchrun --nproc_per_node=2 buckets.py --views --keep --accumulation=1",
    "torchrun --nproc_per_node=2 unused.py",
    "torchrun --nproc_per_node=2 unused.py --views --accumulation=1",
    "torchrun --nproc_per_node=2 unused.py --static",
    "torchrun --nproc_per_node=2 unused.py --static --views",
    "torchrun --nproc_per_node=4 sharded.py",
    "torchrun --nproc_per_node=4 sharded.py --waits",
    "torchrun --nproc_per_node=4 sharded.py --lists",
    "python based.py",
    "python based.py --activation=gelu_new --batch_size=4 --max_seq_len=33",
    "python offsets.py",
    "python offsets.py --accumulation=1 --batch_size=3 --max_seq_len=65",
    "torchrun --nproc_per_node=2 buckets.py # 2.15",
    "torchrun --nproc_per_node=2 buckets.py --views --cap=1 --batch-size=2 # 2.15",
    "torchrun --nproc_per_node=2 buckets.py --cap=1 --lazy # 2.15",
    "torchrun --nproc_per_node=2 buckets.py --views --keep --cap=1 --lazy --batched # 2.15",
    "torchrun --nproc_per_node=2 unused.py --static --views # 2.15",
    "torchrun --nproc_per_node=4 sharded.py # 2.15",
    "torchrun --nproc_per_node=4 sharded.py --lists # 2.15",
    "python alone.py",
    "python alone.py # 2.15",
    "python adapted.py",
    "python adapted.py # 2.15",
)


def parted(name: str) -> tuple[str, str]:
    """The launch line of a row and the release of PyTorch that it is of."""
    line, _, release = name.partition(" # ")
    return line, release or TORCH


def configs() -> list[Row]:
    """The rows of the table, without figures."""
    return [{"name": line} for line in LINES]


def text_of(line: str) -> str:
    """One word for the script of a line: what is recorded is of this text."""
    script = next(word for word in parted(line)[0].split() if word.endswith(".py"))
    return hashlib.sha256((SCRIPTS / script).read_bytes()).hexdigest()[:16]


def read_row(row: Row) -> Found:
    """Its events by reading; raises NotRead."""
    line, release = parted(row["name"])
    major, minor = map(int, release.split("."))
    return read_whole(SCRIPTS, line, CARD, (major, minor), eager=True)


def traced(line: str, python: str, cache: Path) -> Traced:
    """Its events by PyTorch itself."""
    command, gpu = read_command(shlex.split(parted(line)[0])), find(CARD).gpu
    assert gpu.compute_capability is not None and gpu.sm_count is not None
    world = command.world_size or 1
    request = Request(
        python=python,
        argv=command.argv,
        card=PretendedCard(
            gpu.name, gpu.total_bytes, gpu.compute_capability, gpu.sm_count, world
        ),
        world_size=world,
        environment=dict(command.environment),
        folder=SCRIPTS,
        seconds=600,
    )  # fmt: skip
    found = read(trace(request, cache))
    if found.failure is not None:
        raise SystemExit(f"{line}: {found.failure}\n{found.printed}")
    if ".".join(map(str, found.release)) != parted(line)[1]:
        raise SystemExit(f"{line}: not of PyTorch {found.torch}")
    return found


def main() -> int:
    """Trace and write, or compare."""
    options = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--torch", default=TORCH, help="the release that it has")
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    options.add_argument("--check", action="store_true", help="write nothing")
    options.add_argument("--rows", nargs="+", default=[], metavar="LINE")
    given = options.parse_args()

    def figures(row: Row) -> Row:
        tape = traced(row["name"], given.python, given.cache).tape
        try:
            miss = first_difference(read_row(row).tape, tape)
        except NotRead as why:
            miss = str(why)
        if miss:
            print(f"{row['name']}: read otherwise: {miss}")
        return {
            "script": text_of(row["name"]),
            "entries": len(entries(tape)),
            "digest": digest(tape),
            "allocated": allocated_peak(tape),
        }

    rows = given.rows or [line for line in LINES if parted(line)[1] == given.torch]
    return record(TABLE, configs(), figures, only=rows, check=given.check)


if __name__ == "__main__":
    raise SystemExit(main())
