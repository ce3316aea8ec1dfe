"""Scripts as people publish them, traced: what torch counted, what its tape gives, the cost.

    python validation/trace_scripts.py --python .venv-cuda/bin/python nanoMoE=path/to/checkout

traces the named rows and compares. Each row of ``recorded/scripts.json`` has its command, the
commit and the PyTorch that it was traced with; ``--write`` records them anew. What stands in for
data and downloads is in ``stand_ins/``. validation/traces.md has the table.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.tape.allocator.caching import CachingAllocator
from nanolint.trace.launch import read_command
from nanolint.trace.process import PretendedCard, Request, trace
from nanolint.trace.traced import Traced, read

if TYPE_CHECKING:
    from nanolint.tape.tape import Tape

HERE = Path(__file__).parent
TABLE = HERE / "recorded" / "scripts.json"
MIB = 1 << 20
Row = dict[str, Any]


def rows() -> list[Row]:
    """All of them."""
    found: list[Row] = json.loads(TABLE.read_text())
    return found


def played(tape: Tape) -> tuple[int, int]:
    """The peaks of allocated and reserved bytes when nanolint's allocator plays ``tape``."""
    allocator, blocks, peak = CachingAllocator(None), list[Any](), 0
    for event in tape.events:
        if event >= 0:
            blocks.append(allocator.malloc(tape.sizes[event]))
            peak = max(peak, allocator.allocated)
        else:
            allocator.release(blocks[~event])
    return peak, allocator.peak_reserved


def write(table: list[Row]) -> None:
    """Put all rows into the table, one a line."""
    lines = ",\n ".join(json.dumps(each) for each in table)
    TABLE.write_text(f"[\n {lines}\n]\n")


def traced(
    row: Row, checkout: Path, python: str, cache: Path, *, environment: dict[str, str] | None = None
) -> Traced:
    """The row's run; leaves with what the script printed where it did not come to its steps."""
    command = read_command(shlex.split(row["command"]))
    card = row["card"]
    request = Request(
        python=python,
        argv=command.argv,
        module=command.module,
        before=(HERE / "stand_ins" / row["before"]) if row["before"] else None,
        card=PretendedCard(
            card["name"], 80 << 30, tuple(card["compute_capability"]), card["sm_count"],
            command.world_size or 1,
        ),
        world_size=command.world_size or 1,
        environment={**dict(command.environment), **(environment or {})},
        folder=checkout,
        seconds=3600,
    )  # fmt: skip
    found = read(trace(request, cache))
    if found.failure is not None:
        raise SystemExit(f"{found.failure}\n{found.printed}")
    return found


def main() -> int:
    """Trace, write the table, and say by the exit status whether torch's peaks were met."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("rows", nargs="+", metavar="ROW=CHECKOUT")
    options.add_argument("--python", required=True, help="that has the PyTorch of the rows")
    options.add_argument("--write", action="store_true", help="put what is found into the table")
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    given = options.parse_args()
    status = 0
    for name, _, checkout in (each.partition("=") for each in given.rows):
        table = rows()
        row = next(row for row in table if row["name"] == name)
        found = traced(row, Path(checkout), given.python, given.cache)
        allocated, reserved = played(found.tape)
        before, row["traced"] = (
            row["traced"],
            {
                "torch": found.torch,
                "max_memory_allocated": found.allocated_bytes,
                "max_memory_reserved": found.reserved_bytes,
                "played_allocated": allocated,
                "played_reserved": reserved,
                "cpu_seconds": round(found.cpu_seconds),
                "host_mib": found.host_bytes // MIB,
            },
        )
        if given.write:
            write(table)
        print(f"{name}: {row['traced']}\n  recorded: {before}")
        equal = (allocated, reserved) == (found.allocated_bytes, found.reserved_bytes)
        status |= not equal
    return status


if __name__ == "__main__":
    raise SystemExit(main())
