"""Peaks that people have published of real cards, and what a trace says of the same runs.

    python validation/published.py --python .venv-2.9/bin/python autoresearch=path/to/checkout

traces the named rows again, with the PyTorch that they ran on, and compares. The rows are in
``recorded/published.json``; what stands in for data and downloads is in ``stand_ins/``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.trace.process import PretendedCard, Request, trace
from nanolint.trace.traced import read

HERE = Path(__file__).parent
Row = dict[str, Any]


def rows() -> list[Row]:
    """All of them: published MiB with their source, and the bytes that the trace allocated."""
    found: list[Row] = json.loads((HERE / "recorded" / "published.json").read_text())
    return found


def traced_bytes(row: Row, checkout: Path, python: str, cache: Path) -> int:
    """``torch.cuda.max_memory_allocated`` of the traced run."""
    card = row["card"]
    pretended = PretendedCard(
        card["name"], card["total_mib"] << 20, tuple(card["compute_capability"]), card["sm_count"]
    )
    request = Request(
        python=python,
        argv=row["argv"],
        module=row["module"],
        before=HERE / "stand_ins" / row["before"],
        card=pretended,
        folder=checkout,
        seconds=3600,
    )
    found = read(trace(request, cache))
    if found.failure is not None:
        raise SystemExit(f"{found.failure}\n{found.printed}")
    return found.allocated_bytes


def main() -> int:
    """Trace, print, and say by the exit status whether the table has the same bytes."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("rows", nargs="+", metavar="ROW=CHECKOUT")
    options.add_argument("--python", required=True, help="that has the PyTorch of the row")
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    given = options.parse_args()
    known, status = {row["name"]: row for row in rows()}, 0
    for name, _, checkout in (each.partition("=") for each in given.rows):
        row = known[name]
        nbytes = traced_bytes(row, Path(checkout), given.python, given.cache)
        print(f"{name}: {nbytes}, recorded {row['traced']}, published {row['published_mib']} MiB")
        status |= nbytes != row["traced"]
    return status


if __name__ == "__main__":
    raise SystemExit(main())
