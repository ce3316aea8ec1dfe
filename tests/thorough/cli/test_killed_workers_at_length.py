"""Worker processes that are ended from outside: by a user, or by a system that is out of memory.

These take seconds each.
"""

from __future__ import annotations

import signal

import pytest

from nanolint.cli.processes import in_processes
from tests.stories.cli.test_killed_workers import DEADLY, negated, reasons, told


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (signal.SIGKILL, "killed by SIGKILL: this machine may have too little memory (RAM) for it"),
        (signal.SIGTERM, "killed by SIGTERM"),
        (signal.SIGSEGV, "killed by SIGSEGV"),
    ],
)
def test_what_one_cannot_do_the_others_have_done(number: signal.Signals, why: str) -> None:
    reasons.clear()
    found = list(in_processes(negated, number, range(20), 2, size=3, instead=told))
    assert found == [0 if each == DEADLY else -each for each in range(20)]
    assert reasons == [f"the process that checked it was {why}"]
