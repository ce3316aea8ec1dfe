"""Whole scripts read as nanolint's users have them read: by launch line, card and PyTorch.

    python validation/read_scripts.py --python .venv-cuda/bin/python llm.c=path/to/checkout

reads the named rows of ``recorded/scripts.json``, compares their peaks with the traced ones, traces
each once more without torch.compile, and compares that event for event. ``--write`` records it, and
puts the table into validation/trainers.md.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from argparse import Namespace
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.cli.profile import config_of
from nanolint.cli.streams import Streams
from nanolint.files.notes import forget
from nanolint.gpus.lookup import find
from nanolint.recording.recording import record
from nanolint.rule.case import case_of
from nanolint.run.program import ReadScript
from validation.read_models import entries, first_difference
from validation.trace_scripts import HERE, Row, played, rows, traced, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.run import Run
    from nanolint.tape.tape import Tape

PAGE = Path(__file__).parent / "trainers.md"
TABLE = re.compile(r"(?s)(?<=<!-- scripts that are read -->\n).*?(?=<!-- end -->)")
EAGER = {"TORCHDYNAMO_DISABLE": "1", "TORCH_COMPILE_DISABLE": "1"}
CARDS = {  # as lookup has them
    "NVIDIA A100-SXM4-80GB": "a100-80gb",
    "NVIDIA H100 80GB HBM3": "h100-80gb",
    "NVIDIA GeForce RTX 4070": "rtx-4070",
    "NVIDIA GeForce RTX 4090": "rtx-4090",
}


class Found(NamedTuple):
    """What reading gives: the tape, what is in doubt, the run."""

    tape: Tape
    doubts: tuple[str, ...]
    run: Run


class NotRead(Exception):
    """No tape is known of the script, and why."""


def read_whole(folder: Path, line: str, card: str, torch: tuple[int, int], *, eager: bool) -> Found:
    """The run that ``line`` starts in ``folder``; ``eager`` leaves torch.compile out."""
    options = Namespace(isolated=True, config=None, torch_version=".".join(map(str, torch)))
    with _inside(folder), patch("nanolint.profiles.profiles.find_profile", return_value=None):
        forget()  # nor is it looked up where a profile of it is shipped
        config = config_of(line, options, Streams(sys.stdin, sys.stdout, sys.stderr)).config
        target = find(card)
        found = case_of(config, target).resolution
        run = found.run
        if run is None or not isinstance(run.program, ReadScript):
            raise NotRead("; ".join(map(str, (*found.unresolved, *found.doubts))))
        tape = record(replace(run, compile=False) if eager else run, target.gpu)
    return Found(tape, tuple(str(each) for each in found.doubts), run)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def read_row(row: Row, checkout: Path, *, eager: bool) -> Found:
    """A published script, on its card, with the release that it was traced with."""
    major, minor, *_ = row["traced"]["torch"].split(".")
    release = int(major), int(minor)
    return read_whole(checkout, row["command"], CARDS[row["card"]["name"]], release, eager=eager)


def figures(row: Row, checkout: Path, python: str, cache: Path) -> Row:
    """What reading gives as it is launched and without torch.compile, and where it differs."""
    found: Row = {}
    try:
        whole = read_row(row, checkout, eager=False)
        allocated, reserved = played(whole.tape)
        found |= {"allocated": allocated, "reserved": reserved, "doubts": list(whole.doubts)}
    except NotRead as why:
        found["not_read"] = str(why)
    theirs = traced(row, checkout, python, cache, environment=EAGER)
    mine = read_row(row, checkout, eager=True)
    difference = first_difference(ended(mine.tape, theirs.tape), theirs.tape)
    found["eager"] = {
        "allocated": played(mine.tape)[0],
        "traced": theirs.allocated_bytes,
        "difference": None if difference is None else difference.replace(f"{HERE}/", "")[:300],
    }
    return found


def ended(mine: Tape, theirs: Tape) -> Tape:
    """What was read, to where the trace ends: reading goes on behind the last step."""
    whole, end = entries(mine), entries(theirs)
    return theirs if whole[: len(end)] == end else mine


def table_lines() -> Iterator[str]:
    """validation/trainers.md's table."""
    yield "| script | card, PyTorch | read | traced | published | without torch.compile |"
    yield "|---|---|---|---|---|---|"
    for row in rows():
        if "read" not in row:
            continue
        read, eager, told = row["read"], row["read"]["eager"], row["traced"]
        cells = [
            f"{row['source']} `{row['command']}`",
            f"{CARDS[row['card']['name']]}, {told['torch'].partition('+')[0]}",
            f"{read['allocated']:,}" if "allocated" in read else "what is compiled is not known",
            f"{told['max_memory_allocated']:,}",
            published(row),
            _apart(eager),
        ]
        yield f"| {' | '.join(cells)} |"


def published(row: Row) -> str:
    """What its users had: PyTorch's peak of allocated bytes, or what it had reserved in the end."""
    told = row["published"]
    if told is None:
        return ""
    return f"{told['mib']:,} MiB" if "mib" in told else f"{told['reserved_gib']} GiB reserved"


def _apart(eager: Row) -> str:
    if eager["difference"] is None:
        return f"{eager['traced']:,}: every event equal"
    return f"{eager['allocated']:,} read, {eager['traced']:,} traced; events differ"


def main() -> int:
    """Read, trace, compare; the exit status says whether the table has it so."""
    options = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    options.add_argument("rows", nargs="*", metavar="ROW=CHECKOUT")
    options.add_argument("--python", required=True, help="that has the PyTorch of the rows")
    options.add_argument("--write", action="store_true", help="put what is found into the table")
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    given = options.parse_args()
    status = 0
    for name, _, checkout in (each.partition("=") for each in given.rows):
        table = rows()
        row = next(row for row in table if row["name"] == name)
        before = row.get("read")
        row["read"] = figures(row, Path(checkout), given.python, given.cache)
        status |= row["read"] != before
        print(f"{name}: {row['read']}", flush=True)
        if given.write:
            write(table)
    if given.write:
        text = "\n".join(table_lines())
        PAGE.write_text(TABLE.sub(lambda _: f"{text}\n", PAGE.read_text("utf-8")), "utf-8")
        return 0
    return status


if __name__ == "__main__":
    raise SystemExit(main())
