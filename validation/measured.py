"""Measured against predicted: what measure_gpu.py recorded on real cards, beside the replay.

python validation/measured.py            # print a table for each card
python validation/measured.py --write    # and put them into docs/measured.md
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.gpu import Gpu
from nanolint.run.run import Attention, Run
from nanolint.trainers.nanogpt.resolve import default_run
from nanolint.verdict.replay import Replay, replay
from validation.accuracy import page_with

GIB = 1 << 30
ROOT = Path(__file__).parents[1]
RECORDINGS = (ROOT / "validation" / "recorded" / "gpu" / "h200.json",)
PAGE = ROOT / "docs" / "measured.md"
CASE_KEYS = (
    "batch_size", "block_size", "n_layer", "n_head", "n_embd", "vocab_size", "dropout", "bias",
    "dtype", "compile", "gradient_accumulation_steps",
)  # fmt: skip


def table(recording: dict[str, Any]) -> str:
    """A Markdown table of one card's recording."""
    gpu = card(recording["card"])
    software = f"torch {recording['card']['torch']}, CUDA {recording['card']['cuda']}"
    lines = [
        f"{gpu.name}, {software}",
        "",
        "| run | measured: allocated, reserved | predicted | error | it |",
        "|---|---|---|---|---|",
    ]
    release = recording["card"]["torch"]
    lines += [_row(each, gpu, release) for each in recording["results"] if "error" not in each]
    return "\n".join(lines)


def card(recorded: dict[str, Any]) -> Gpu:
    """The measured card as the replay takes it."""
    total = recorded["total_bytes"]
    major, minor = recorded["compute_capability"]
    sms = recorded["sm_count"]
    return Gpu(recorded["name"], "nvidia", total, total, sms, (major, minor), False, "measured")


def run_of(case: dict[str, Any], gpu: Gpu, release: str) -> Run:
    """The run of a measured case, with the ``release`` of PyTorch that was measured."""
    modern = (gpu.compute_capability or (8, 0)) >= (8, 0)
    flash = case["dtype"] != "float32" and modern
    attention = Attention.FLASH if flash else Attention.EFFICIENT
    values = {key: case[key] for key in CASE_KEYS}
    major, minor = release.split(".")[:2]
    return default_run().having(attention=attention, torch=(int(major), int(minor)), **values)


class Off(NamedTuple):
    """The relative errors of a measured run."""

    allocated: float
    reserved: float
    compiled: bool


def errors(recording: Path) -> list[Off]:
    """The errors of each run of a recording."""
    told = json.loads(recording.read_text(encoding="utf-8"))
    gpu, release = card(told["card"]), told["card"]["torch"]
    return [
        _off(each, _replayed(each, gpu, release)) for each in told["results"] if "error" not in each
    ]


def _replayed(result: dict[str, Any], gpu: Gpu, release: str) -> Replay:
    limit = result["case"]["limit_gib"] and int(result["case"]["limit_gib"] * GIB)
    return replay(run_of(result["case"], gpu, release), gpu, limit_bytes=limit)


def _off(result: dict[str, Any], found: Replay) -> Off:
    allocated, reserved = taken(result)
    return Off(
        found.peak.allocated_bytes / allocated - 1,
        found.peak.reserved_bytes / reserved - 1,
        result["case"]["compile"],
    )


def _row(result: dict[str, Any], gpu: Gpu, release: str) -> str:
    case = result["case"]
    found = _replayed(result, gpu, release)
    off = _off(result, found)
    allocated, reserved = taken(result)
    peak = found.peak
    died = "ran out of memory" if result["oom"] else "fitted"
    told = "ran out of memory" if found.oom else "fitted"
    how = "compiled" if case["compile"] else "eager"
    outcome = died if died == told else f"{died}, predicted: {told}"
    return (
        f"| {case['name']}, {how} | {allocated / GIB:.3f}, {reserved / GIB:.3f} GiB "
        f"| {peak.allocated_bytes / GIB:.3f}, {peak.reserved_bytes / GIB:.3f} GiB "
        f"| {off.allocated:+.2%}, {off.reserved:+.2%} "
        f"| {outcome} |"
    )


def taken(result: dict[str, Any]) -> tuple[int, int]:
    """The peaks that were measured, allocated and reserved.

    Where each request was watched, allocated is the most that was requested, as nanolint counts;
    torch counts whole blocks, with rests that are too small to split off.
    """
    phases = result["phases"]
    whole = max(phase["allocated"] for phase in phases)
    return result.get("requested", whole), max(phase["reserved"] for phase in phases)


def main(argv: list[str] | None = None) -> int:
    """Print a table for each card; with ``--write`` put them into the page."""
    parser = argparse.ArgumentParser(description="What cards took, and what was predicted")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args(argv)
    tables = [table(json.loads(each.read_text(encoding="utf-8"))) for each in RECORDINGS]
    found = "\n\n".join(tables)
    print(found)
    if arguments.write:
        text = page_with(PAGE.read_text(encoding="utf-8"), found, "measured")
        PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
