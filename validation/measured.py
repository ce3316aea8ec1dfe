"""Measured against predicted: what measure_gpu.py recorded on real cards, beside the replay.

python validation/measured.py validation/recorded/gpu/*.json
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from nanolint.gpus.gpu import Gpu
from nanolint.memory.verdict.replay import replay
from nanolint.run.run import Attention, Run
from nanolint.trainers.nanogpt.resolve import default_run

GIB = 1 << 30
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
        "| case | compile | measured allocated, reserved | predicted | error | verdicts |",
        "|---|---|---|---|---|---|",
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
    return replace(
        default_run(), attention=attention, torch=(int(major), int(minor)), **values
    )


def _row(result: dict[str, Any], gpu: Gpu, release: str) -> str:
    case = result["case"]
    limit = case["limit_gib"] and int(case["limit_gib"] * GIB)
    found = replay(run_of(case, gpu, release), gpu, limit_bytes=limit)
    allocated, reserved = taken(result)
    peak = found.peak
    died = "out of memory" if result["oom"] else "fits"
    told = "out of memory" if found.oom else "fits"
    return (
        f"| {case['name']} | {case['compile']} | {allocated / GIB:.3f}, {reserved / GIB:.3f} GiB "
        f"| {peak.allocated_bytes / GIB:.3f}, {peak.reserved_bytes / GIB:.3f} GiB "
        f"| {peak.allocated_bytes / allocated - 1:+.2%}, {peak.reserved_bytes / reserved - 1:+.2%} "
        f"| {died}, predicted: {told} |"
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
    """Print a table for each recording."""
    for name in sys.argv[1:] if argv is None else argv:
        print(table(json.loads(Path(name).read_text(encoding="utf-8"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
