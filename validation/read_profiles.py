"""Trainers that have a ready-made profile, read as nanolint's users have them read without it.

    python validation/read_profiles.py nanochat-d12=path/to/checkout

reads the launch line of each named profile and records its peaks beside those of the profile, at
the micro-batch that the line has: ``recorded/profiles_read.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.profiles.profiles import SHIPPED
from nanolint.run.profile_file import read
from nanolint.tape.profile import profiled
from scripts.build_profiles import TRAINERS
from validation.read_scripts import NotRead, read_whole
from validation.trace_scripts import played

RECORDED = Path(__file__).parent / "recorded" / "profiles_read.json"
Row = dict[str, Any]


def row_of(path: Path, gpu: str, checkout: Path) -> Row:
    """What reading the launch line of a profile gives, and the profile at its micro-batch."""
    profile = read(path.read_bytes())
    found: Row = {"profile": path.stem}
    try:
        whole = read_whole(checkout, profile.command, gpu, profile.release, eager=False)
    except NotRead as why:
        return {**found, "not_read": str(why)}
    batch, steps = whole.run.batch_size, whole.run.micro_steps
    allocated, reserved = played(whole.tape)
    told = played(profiled(profile, batch, steps))
    return {
        **found,
        "batch_size": batch,
        "micro_steps": steps,
        "profile_allocated": told[0],
        "profile_reserved": told[1],
        "allocated": allocated,
        "reserved": reserved,
        "doubts": list(whole.doubts),
    }


def main() -> int:
    """Record the rows of those that are named; the others stay."""
    options = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    options.add_argument("trainers", nargs="+", metavar="NAME=CHECKOUT")
    rows: dict[str, Row] = {}
    if RECORDED.exists():
        rows = {row["profile"]: row for row in json.loads(RECORDED.read_text("utf-8"))}
    for name, _, checkout in (each.partition("=") for each in options.parse_args().trainers):
        for path in sorted(SHIPPED.glob(f"{name}-sm*.json")):
            rows[path.stem] = row_of(path, TRAINERS[name].gpu, Path(checkout))
            print(json.dumps(rows[path.stem]), flush=True)
            lines = ",\n ".join(json.dumps(row) for _, row in sorted(rows.items()))
            RECORDED.write_text(f"[\n {lines}\n]\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
