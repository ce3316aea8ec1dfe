"""Trust as `check` shows it: doubted runs are warnings, also when they fit, once per project.

These take seconds each.
"""

from __future__ import annotations

import pytest

from tests.stories.cli.test_doubted_runs import findings, fork
from tests.support.cli_configs import GPU, LARGE, write
from tests.support.command import nanolint

__all__ = ["fork"]


@pytest.mark.usefixtures("fork")
def test_a_doubted_run_that_does_not_fit_is_a_warning_with_an_unsafe_fix() -> None:
    config = write("config/large.py", LARGE)
    (found,) = findings("config/large.py", GPU, "--select=NL1,NL005")
    assert (found["severity"], found["trust"]) == ("warning", "doubted")
    assert found["fix"]["safety"] == "unsafe"
    settles = "`nanolint trace -- python train.py config/large.py` settles it"
    told = f"not certain: {found['doubts'][0]}; {settles}"
    assert found["notes"][-1] == told
    nanolint("--fix", "config/large.py", GPU, "--select=NL1")
    assert config.read_text() == LARGE
    nanolint("--fix", "--unsafe-fixes", "config/large.py", GPU, "--select=NL1")
    assert config.read_text() != LARGE
