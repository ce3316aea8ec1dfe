"""Hold what nanolint reads of public derivatives to traces of them, one row a launch line.

    python scripts/trace_derivatives.py CHECKOUTS --python .venv-cuda/bin/python

goes through validation/derivatives_traced.json: each row has its repository, whose checkout is
``CHECKOUTS/owner+name``, and its words behind ``python``. ``nanolint explain`` and ``nanolint
trace`` are asked about the same line; the bytes of both are put into the row, and the commit of
nanolint that read it (``state``). ``--add`` puts a row
there first, ``--only`` takes those whose repository has the word in it, ``--missing`` those that
have not been traced. Tokens come from validation/stand_ins/forks.py.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from count_trust import state

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "validation" / "derivatives_traced.json"
STAND_IN = ROOT / "validation" / "stand_ins" / "forks.py"
CARD = "a100-80gb"
# The release that the traces are made with.
RELEASE = "from importlib.metadata import version; print(*version('torch').split('.')[:2], sep='.')"

Row = dict[str, Any]


def asked(folder: Path, words: list[str]) -> Row:
    """What nanolint says to ``words``; leaves with what it wrote where that is no answer."""
    command = [sys.executable, "-m", "nanolint", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    try:
        found: Row = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"failed": (done.stderr or done.stdout).strip()[-300:]}
    return found


def measure(row: Row, checkouts: Path, python: str, *, only_read: bool) -> None:
    """Read and trace the launch line of a row."""
    folder = checkouts / row["repository"].replace("/", "+", 1) / row.get("folder", "")
    release = subprocess.run([python, "-c", RELEASE], capture_output=True, text=True, check=True)
    line = ["--gpu", CARD, "--format", "json", "--", "python", *shlex.split(row["words"])]
    read = asked(
        folder, ["explain", "--isolated", "--torch-version", release.stdout.strip(), *line]
    )
    row |= {"torch": release.stdout.strip(), "trust": read.get("trust", "–")}
    row["read"], row["read_reserved"] = _peak(read)
    row |= {"compiled": (read.get("run") or {}).get("compile"), "state": state()}
    row.pop("failed", None)
    if only_read:
        return
    traced = asked(folder, ["trace", "--python", python, "--before", str(STAND_IN), "--yes", *line])
    row["traced"], row["traced_reserved"] = _peak(traced)
    if "failed" in traced:
        row["failed"] = traced["failed"]


def _peak(found: Row) -> tuple[int | None, int | None]:
    peak = found.get("peak") or {}
    return peak.get("allocated_bytes"), peak.get("reserved_bytes")


def write(rows: list[Row]) -> None:
    """All rows, one a line."""
    lines = ",\n".join(json.dumps(each) for each in rows)
    ROWS.write_text(f"[\n{lines}\n]\n")


def main(argv: list[str] | None = None) -> int:
    """Measure the rows, and print each."""
    parser = argparse.ArgumentParser(description="Hold readings of derivatives to traces")
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--python", required=True, help="one that has a CUDA build of PyTorch")
    parser.add_argument("--only", default="", help="a part of the repository's name")
    parser.add_argument("--read", action="store_true", help="what is read, not what was traced")
    parser.add_argument("--missing", action="store_true", help="only what was not traced")
    parser.add_argument("--add", nargs=2, action="append", default=[], metavar=("REPO", "WORDS"))
    arguments = parser.parse_args(argv)
    rows: list[Row] = json.loads(ROWS.read_text())
    for repository, words in arguments.add:
        if not any((each["repository"], each["words"]) == (repository, words) for each in rows):
            rows.append({"repository": repository, "words": words})
    rows.sort(key=lambda each: (each["repository"].lower(), each["words"]))
    for row in rows:
        if arguments.only not in row["repository"] or (arguments.missing and row.get("traced")):
            continue
        measure(row, arguments.checkouts, arguments.python, only_read=arguments.read)
        print(json.dumps(row), flush=True)
        write(rows)
    write(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
