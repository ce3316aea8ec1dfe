"""How runs on a card are started and counted, where there is no card."""

from __future__ import annotations

import sys
from typing import Any

from validation.card import Runs, requested, timed_until

L2 = 4096


def test_requests_are_rounded_up_and_given_back_as_they_were_asked_for() -> None:
    assert requested([100, 600, -2, 512, -3, -2]) == 512 + 1024
    assert requested([2048, -1, 512, -1]) == 2048


def test_what_is_held_once_kernels_are_timed_is_counted_from_there() -> None:
    events = [512, L2, -1, L2, -1, 1024, -1, -7]
    assert requested(events) == 512 + L2
    assert timed_until(events, L2) == 5
    assert requested(events, timed_until(events, L2)) == 512 + 1024
    assert timed_until([512, -1], L2) == 0


def printing(text: str) -> list[str]:
    return [sys.executable, "-c", f"print({text!r})"]


def told(runs: Runs, commands: dict[str, list[str]]) -> dict[str, dict[str, Any]]:
    return dict(runs.every(commands, lambda found: bool(found.get("oom"))))


def test_the_last_line_that_a_process_prints_is_its_result() -> None:
    found = told(
        Runs(600, 2, 600), {"one": printing('noise\n{"n": 1}'), "two": printing('{"n": 2}')}
    )
    assert {name: each["n"] for name, each in found.items()} == {"one": 1, "two": 2}


def test_what_runs_out_of_memory_beside_others_runs_again_alone() -> None:
    commands = {"full": printing('{"oom": "no memory"}'), "other": printing('{"oom": null}')}
    assert list(told(Runs(600, 2, 600), commands)) == ["other", "full"]
    assert list(told(Runs(600, 1, 600), commands)) == ["full", "other"]
