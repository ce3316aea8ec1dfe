"""``explain --compare``: a real memory snapshot beside the prediction.

These take seconds each.
"""

from __future__ import annotations

import pickle
from pathlib import Path

from tests.stories.cli.test_compare_snapshot import compared, config
from tests.support.command import nanolint


def test_a_snapshot_of_the_very_run_agrees() -> None:
    nanolint("explain", "config.py", "--gpu=a100-40gb", "--snapshot=own.pickle")
    told = compared(pickle.loads(Path("own.pickle").read_bytes()))
    assert told.count("+0.0 %") == 2
    assert "Only" not in told


__all__ = ["config"]  # fixtures
