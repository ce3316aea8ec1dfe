"""Profiles of models that nanolint cannot know, against a trace of every micro-batch.

    python validation/profiles.py --python .venv-cuda/bin/python nanoMoE=path/to/checkout

writes the row's config, or its launch script, into the checkout, makes the profile as ``nanolint
trace --profile`` does, traces every micro-batch that keeps the effective batch, looks for the
largest that is comfortable on the row's card among those traces, and lets ``nanolint --fix``
rewrite the file. What was found goes into ``recorded/profiles.json``;
tests/tables/test_unknown_models.py holds the rows to their margins.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.cli.parser import UsageError
from nanolint.cli.profile import Profiler, config_of, profile
from nanolint.cli.streams import Streams
from nanolint.gpus.lookup import find
from nanolint.recording.recording import allocated_peak
from nanolint.run.program import Profiled
from nanolint.tape.allocator.play import play
from nanolint.tape.profile import profiled
from nanolint.trace.failures import explained
from nanolint.trace.launch import read_command
from nanolint.trace.process import Asked, PretendedCard, Request, Tracer
from nanolint.trace.traced import read
from nanolint.verdict.search import divisors_down
from nanolint.verdict.verdict import comfortable_limit

if TYPE_CHECKING:
    from nanolint.cli.config_file import ConfigFile
    from nanolint.run.run import Run
    from nanolint.tape.tape import Tape
    from nanolint.trace.traced import Traced

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "validation" / "recorded" / "profiles.json"
OPTIONS = Namespace(isolated=True, config=None)
Row = dict[str, Any]


def rows() -> list[Row]:
    """All of them."""
    found: list[Row] = json.loads(TABLE.read_text())
    return found


def measured(row: Row, python: str, cache: Path) -> Row:
    """What is found for the row; the working folder is the checkout, with the row's config."""
    machine = find(row["gpu"])
    gpu = machine.gpu
    card = PretendedCard(
        gpu.name, gpu.total_bytes, gpu.compute_capability or (8, 0), gpu.sm_count or 108
    )
    words = words_of(row)
    command = read_command(shlex.split(words))
    config = config_of(words, OPTIONS, Streams(sys.stdin, sys.stdout, sys.stderr))
    before = ROOT / "validation" / "stand_ins" / row["before"] if row["before"] else None
    request = Request(
        python=python,
        argv=command.argv,
        module=command.module,
        before=before,
        card=card,
        seconds=1200,
    )
    tracer = Tracer(request, cache)

    def trace(asked: Asked) -> Traced:
        print("  trace", *asked.argv[1:], flush=True)
        found = read(tracer(asked))
        if not found.complete:
            raise UsageError(explained(found, python))
        return found

    profiler = Profiler(config, machine, request.argv, trace)
    path, found, complete = profile(words, profiler, card, row.get("most_traces", 60))
    run = profiler.run
    tapes = {
        (batch, steps): point.tape
        for batch, steps in divisors_down(run.batch_size, run.micro_steps, LARGEST)
        if (point := profiler(batch, steps)) is not None
    }
    resolution = _config(words, found.torch).config.resolved(machine)
    assert resolution.run is not None and isinstance(resolution.run.program, Profiled)
    limit = comfortable_limit(resolution.run, machine)
    fits = [batch for (batch, _), tape in tapes.items() if _passes(tape, limit)]
    return {
        "torch": found.torch,
        "bytes": path.stat().st_size,
        "traces": sum(len(each.traced) for each in found.regimes),
        "complete": complete,
        "error_per_mille": found.error_per_mille,
        "held_out": [[each.batch_size, each.micro_steps] for each in found.held_out],
        "micro_batches": [
            [batch, steps, *_peaks(tape), *_peaks(profiled(found, batch, steps))]
            for (batch, steps), tape in sorted(tapes.items())
        ],
        "largest_by_tracing": max(fits, default=None),
        **judged(row, found.torch),
    }


def judged(row: Row, torch: str) -> Row:
    """What nanolint makes of the row with the profile that is there, for that release."""
    words, machine = words_of(row), find(row["gpu"])
    before = _config(words, torch).config.resolved(machine)
    assert before.run is not None, before.why_unknown
    return {"trust": before.trust.value, "largest_by_fix": _fixed(row, torch, before.run)}


def _config(words: str, torch: str) -> ConfigFile:
    options = Namespace(isolated=True, config=None, torch_version=_release(torch))
    return config_of(words, options, Streams(sys.stdin, sys.stdout, sys.stderr))


def _release(torch: str) -> str:
    """``2.13`` of ``2.13.0+cu130``."""
    return ".".join(torch.split(".")[:2])


def words_of(row: Row) -> str:
    """The launch line of the row as its file has it now: a script's last line, or its config's."""
    if row["path"].endswith(".sh"):
        return Path(row["path"]).read_text().splitlines()[-1]
    return f"python train.py {row['path']}"


LARGEST = 10**6


def _passes(tape: Tape, limit: int) -> bool:
    return play(tape, limit_bytes=limit).refusal is None


def _peaks(tape: Tape) -> tuple[int, int]:
    return allocated_peak(tape), play(tape).peak_reserved_bytes


def _fixed(row: Row, torch: str, before: Run) -> int | None:
    """The micro-batch that ``--fix`` writes for the launch; the effective batch stays what it was.

    The launch says which script it is, where several run configs.
    """
    words = words_of(row)
    command = [sys.executable, "-m", "nanolint", "launch", "--isolated", "--fix"]
    command += ["--torch-version", _release(torch), "--gpu", row["gpu"]]
    target = [row["path"]] if row["path"].endswith(".sh") else ["--", *shlex.split(words)]
    subprocess.run(
        [*command, *target],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "rules")))},
        check=False,
    )
    run = _config(words_of(row), torch).config.resolved(find(row["gpu"])).run
    if run is None:
        return None
    assert run.effective_batch_size == before.effective_batch_size
    return run.batch_size


def main() -> int:
    """Measure, write the table, and say by the exit status whether --fix and tracing agree."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("rows", nargs="+", metavar="ROW=CHECKOUT")
    options.add_argument("--python", required=True, help="that has a CUDA build of PyTorch")
    options.add_argument(
        "--judge", action="store_true", help="trace nothing: judge by the profiles that are there"
    )
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    given = options.parse_args()
    status = 0
    for name, _, checkout in (each.partition("=") for each in given.rows):
        table = rows()
        row = next(row for row in table if row["name"] == name)
        os.chdir(checkout)
        Path(row["path"]).write_text("\n".join(row["config"]) + "\n")
        if given.judge:
            row["found"] |= judged(row, row["found"]["torch"])
        else:
            row["found"] = measured(row, given.python, given.cache)
        found = row["found"]
        lines = ",\n ".join(json.dumps(each) for each in table)
        TABLE.write_text(f"[\n {lines}\n]\n")
        print(f"{name}: {found}", flush=True)
        status |= found["largest_by_tracing"] != found["largest_by_fix"]
    return status


if __name__ == "__main__":
    raise SystemExit(main())
