"""``nanolint explain --format json``: a shape that does not change.

These take seconds each.
"""

from __future__ import annotations

from tests.stories.cli.test_explain_json import explain


def test_a_run_that_does_not_fit() -> None:
    told = explain("--gpu=rtx-4070", "--set", "batch_size=256")
    assert told["fits"] is False
    assert list(told["oom"]) == [
        *["phase", "at", "requested_bytes", "allocated_bytes", "free_bytes", "message"]
    ]
