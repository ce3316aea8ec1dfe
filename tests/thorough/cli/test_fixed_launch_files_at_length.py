"""``--fix`` rewrites a value where it stands, whatever kind of file that is, and nothing else.

These take seconds each.
"""

from __future__ import annotations

import pytest

from tests.stories.cli.test_fixed_launch_files import SHELL, SWEEP, check, fixed, project, remaining


@pytest.mark.parametrize("what", SHELL)
def test_shell(what: str) -> None:
    check("run.sh", SHELL[what])


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ("8, 64", "the fix would change the number of different runs from 2 to 1"),
        ("4, 64", "the fix would change the effective batch of run 1 from 256 to 2048"),
    ],
)
def test_a_point_that_does_not_fit_changes_no_other(values: str, why: str) -> None:
    text = SWEEP.replace("PARAMETERS", f"batch_size:\n    values: [{values}]")
    assert fixed("sweep.yaml", text) == text
    assert f"not fixed: {why}" in remaining("sweep.yaml")


__all__ = ["project"]  # fixtures
