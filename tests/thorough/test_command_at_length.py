"""``nanolint trace``: what it refuses before anything is run.

These take seconds each.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.unit.trace.test_command import LINE, project


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "put the command after --"),
        (("--", "python", "missing.py"), "missing.py: no such file"),
        (("--", "bash", "run.sh"), "bash: expected python or torchrun"),
        (("--before=missing.py", *LINE), "--before: missing.py: no such file"),
        (("--gpu=rtx-9999", *LINE), "rtx-9999"),
        (("--format=json", "--gpu=rtx-4070", "--gpu=rtx-4090", *LINE), "takes one GPU"),
        ((f"--python={sys.executable}", "--yes", *LINE), "has no torch"),
        (("--python=/nowhere/python", "--yes", *LINE), "/nowhere/python"),
        (("--steps=0", *LINE), "not a whole number above 0"),
        (("--try=batch_size", *LINE), "is not a key with its values"),
        (("--try=batch_size=8,4", "--format=json", *LINE), "--try prints text"),
    ],
)
def test_a_command_that_cannot_be_traced_gets_one_line(
    arguments: tuple[str, ...], told: str
) -> None:
    outcome = nanolint("trace", *arguments)
    assert outcome.status == 2
    assert told in outcome.error
    assert not Path("exploded").exists()


__all__ = ["project"]  # fixtures
