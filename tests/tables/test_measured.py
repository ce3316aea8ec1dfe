"""The comparison of measured with predicted runs, on a recording made up from a replay."""

from __future__ import annotations

from typing import Any

from nanolint.verdict.replay import replay
from validation import measured
from validation.cases import cases

CARD: dict[str, Any] = {
    "name": "NVIDIA H200",
    "total_bytes": 150_000_000_000,
    "sm_count": 132,
    "compute_capability": [9, 0],
    "torch": "2.13.0",
    "cuda": "13.0",
}


def result(case: Any, allocated: int, reserved: int, oom: str | None = None) -> dict[str, Any]:
    phase = {"phase": "backward", "allocated": allocated, "reserved": reserved}
    return {"case": case, "phases": [phase], "oom": oom, "process_bytes": 0}


def test_every_case_can_be_replayed_and_is_compared() -> None:
    gpu = measured.card(CARD)
    results = []
    for case in cases()[:3]:
        peak = replay(measured.run_of(dict(case), gpu, CARD["torch"]), gpu).peak
        results.append(result(case, peak.allocated_bytes, 2 * peak.reserved_bytes))
    table = measured.table({"card": CARD, "results": results})
    assert table.count("| +0.00%, -50.00% | fitted |") == 3


def test_cases_that_ran_out_of_memory_or_never_started() -> None:
    small = next(case for case in cases() if case["name"] == "logits-on-12-gb")
    died = result(small, 7 << 30, 7 << 30, oom="CUDA out of memory.")
    never = {"case": small, "error": "not started: the budget is spent"}
    table = measured.table({"card": CARD, "results": [died, never]})
    assert table.count("| ran out of memory |") == 1
    assert len(table.splitlines()) == 5
