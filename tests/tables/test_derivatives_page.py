"""validation/derivatives.md says what was counted and traced, and nothing else."""

from __future__ import annotations

import json
from typing import Any

from scripts import build_derivatives

RUN = {"file": "a.py", "trust": "read", "bytes": 1, "reason": ""}
DOUBTED = {"file": "b.py", "trust": "doubted", "bytes": 2, "reason": "why | not (b.py:3)"}
COUNTED = [
    {"repository": "a/a", "commit": "1", "state": "x", "seconds": 1, "runs": [RUN, DOUBTED]},
    {"repository": "b/b", "commit": "2", "state": "x", "seconds": 1, "runs": [DOUBTED] * 3},
    {
        "repository": "c/c",
        "commit": "3",
        "state": "x",
        "seconds": 9,
        "stopped": "over 9 s",
        "runs": [],
    },
    {"repository": "d/d", "commit": "4", "state": "x", "seconds": 1, "runs": []},
]


def test_the_page_is_what_the_data_say() -> None:
    counted = json.loads(build_derivatives.COUNTED.read_text(encoding="utf-8"))
    traced = json.loads(build_derivatives.TRACED.read_text(encoding="utf-8"))
    page = build_derivatives.page(counted, build_derivatives.in_order(traced))
    assert build_derivatives.PAGE.read_text(encoding="utf-8") == page


def test_shares_are_of_runs_with_a_verdict() -> None:
    page = build_derivatives.page(COUNTED, [])
    assert "1 of the 5 runs with a verdict are not doubted (20%)" in page
    assert "| 4 doubted | why / not |" in page
    assert "No answer: c/c (over 9 s)." in page
    assert "1 more checkouts hold no run" in page
    assert "Beside a trace" not in page


def test_what_a_reading_misses_of_a_trace_is_said() -> None:
    row = {"repository": "a/a", "words": "train.py", "torch": "2.13", "trust": "read"}
    traced: list[dict[str, Any]] = [
        {**row, "read": 99, "traced": 100, "traced_reserved": None},
        {**row, "read": 50, "read_reserved": 60, "traced": 50, "traced_reserved": 60},
        {**row, "read": 50, "traced": None, "failed": "no yaml"},
    ]
    page = build_derivatives.page(COUNTED, traced)
    assert "2 runs of 1 repositories, 1 equal to the byte." in page
    assert "| a/a `train.py` | 99 | 100 | -1.00% |" in page
    assert "Not traced: a/a `train.py` (no yaml)." in page


# Texts that are evaluated are taken for as long as the context, and their tokens are still there.
LONGER = {"csabapalfi/build-nanogpt": 0.00001}


def test_no_sure_reading_is_far_from_its_trace() -> None:
    """Those that run eagerly are equal, those that are compiled near."""
    rows = json.loads(build_derivatives.TRACED.read_text(encoding="utf-8"))
    held = [row for row in rows if row.get("traced")]
    assert len({row["repository"] for row in held}) >= 25
    for row in held:
        assert row["trust"] in build_derivatives.TRUSTED, row
        allocated, reserved = (0.03, 0.05) if row["compiled"] else (0.0, 0.0)
        allocated = max(allocated, LONGER.get(row["repository"], 0.0))
        assert abs(row["read"] / row["traced"] - 1) <= allocated, row
        if row["traced_reserved"]:
            assert abs(row["read_reserved"] / row["traced_reserved"] - 1) <= reserved, row
