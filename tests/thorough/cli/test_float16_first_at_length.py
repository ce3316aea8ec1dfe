"""explain, fit and the editor count with float16 on a card that has no bfloat16, and say so.

These take seconds each.
"""

from __future__ import annotations

from tests.stories.cli.test_float16_first import SAID, config
from tests.support.command import nanolint


def test_explain_counts_what_float16_takes(config: str) -> None:
    told = nanolint("explain", config, "--gpu=t4").out
    assert SAID in told
    assert "T4: fits" in told
    assert "n_layer =" not in told
    assert SAID not in nanolint("explain", config, "--gpu=rtx-4090").out


__all__ = ["config"]  # fixtures
