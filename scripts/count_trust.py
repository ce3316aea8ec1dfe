"""Count how far the runs of public checkouts are trusted: what validation/derivatives.md shows.

    python scripts/count_trust.py CHECKOUT... --json counts.json
    python scripts/count_trust.py --merge a.json b.json --json counts.json

Each checkout is a folder and is asked about by one process, `check --output-format json-full .`;
nothing in it is changed. Every run has its trust and its first doubt or reason. A checkout that
takes longer than the limit (in seconds of the processor) is reported as such, and has no runs.
The JSON keeps what it says of all other checkouts, and each row has the commit of nanolint that it
was counted with (``state``): those of this commit are not counted again, so that a count that was
broken off goes on. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

TRUSTED = ("exact", "read", "traced")
# In one process: the limit and the seconds are its own.
ALONE = """
from nanolint.cli import processes
processes.MOST_WORKERS = 1
from nanolint.cli.main import entry_point
entry_point()
"""
CHECK = ("-c", ALONE, "check", "--isolated", "--output-format", "json-full")

Counted = dict[str, Any]


def count(checkout: Path, gpu: str, limit: int) -> Counted:
    """What nanolint says of the runs of one checkout, and the seconds of the processor it took."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    found: Counted = {"repository": named(checkout), "commit": _commit(checkout)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *CHECK, "--gpu", gpu, "."],
        cwd=checkout,
        env={**os.environ, "COLUMNS": "400", "PYTHONSAFEPATH": "1"},
        preexec_fn=bound,
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found["seconds"] = round(taken, 1)
    if done.returncode not in (0, 1):
        late = -done.returncode in (signal.SIGXCPU, signal.SIGKILL)
        found["stopped"] = f"over {limit} s" if late else done.stderr.strip()[-400:]
        return {**found, "runs": []}
    runs = json.loads(done.stdout)["runs"]
    return {**found, "runs": [_run(each) for each in runs]}


def _run(said: dict[str, Any]) -> dict[str, Any]:
    reasons = said["doubts"] or [""]
    return {
        "file": said["file"],
        "trust": said["trust"],
        "bytes": said["process_bytes"],
        "reason": " ".join(reasons[0].split()),
    }


def named(checkout: Path) -> str:
    """The repository of a checkout, which lies in ``owner+name``."""
    return checkout.name.replace("+", "/", 1)


def state() -> str:
    """The commit of nanolint that counts."""
    asked = ("git", "-C", str(Path(__file__).parent), "rev-parse", "--short=7", "HEAD")
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def write(counted: list[Counted], path: Path) -> None:
    """A checkout a line."""
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in counted)
    path.write_text(f"[\n{lines}\n]\n")


def _commit(checkout: Path) -> str:
    for name in (".commit", "COMMIT"):
        if (checkout / name).is_file():
            return (checkout / name).read_text().split()[0][:7]
    return "–"


def main(argv: list[str] | None = None) -> int:
    """Count each checkout, or merge what was counted."""
    parser = argparse.ArgumentParser(description="Count how far runs of checkouts are trusted")
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--gpu", default="rtx-4070")
    parser.add_argument("--limit", type=int, default=120, help="seconds of the processor for each")
    parser.add_argument("--json", type=Path, help="where the counts are kept")
    parser.add_argument("--merge", nargs="+", type=Path, default=[], help="counts to put together")
    arguments = parser.parse_args(argv)
    kept: dict[str, Counted] = {}
    if arguments.json and arguments.json.is_file():
        arguments.merge.insert(0, arguments.json)
    for each in arguments.merge:
        kept.update({one["repository"]: one for one in json.loads(each.read_text())})
    now = state()
    for checkout in arguments.checkouts:
        if kept.get(named(checkout), {}).get("state") == now:
            continue
        one = {**count(checkout, arguments.gpu, arguments.limit), "state": now}
        kept[one["repository"]] = one
        print(f"{one['repository']}: {one['seconds']} s", file=sys.stderr, flush=True)
        if arguments.json:
            write(
                sorted(kept.values(), key=lambda each: each["repository"].lower()), arguments.json
            )
    counted = sorted(kept.values(), key=lambda each: each["repository"].lower())
    if arguments.json:
        write(counted, arguments.json)
    total = Counter(run["trust"] for each in counted for run in each["runs"])
    trusted = sum(total[trust] for trust in TRUSTED)
    print(f"{len(counted)} checkouts, {total.total()} runs: {dict(total)}")
    print(f"not doubted: {trusted} of the {trusted + total['doubted']} with a verdict")
    return 0


if __name__ == "__main__":
    sys.exit(main())
