"""The three runs that nanolint was made for, judged from the bundled examples.

These take seconds each.
"""

from __future__ import annotations

import pytest

from tests.stories.test_situations import LOGITS, explained, findings


def test_logits_that_do_not_fit_are_found_in_the_first_evaluation() -> None:
    (finding,) = findings(LOGITS)
    assert finding["code"] == "NL102"
    oom = explained(LOGITS)["oom"]
    assert oom["phase"] == "eval"
    assert oom["requested_bytes"] == 6_593_445_888
    assert oom["allocated_bytes"] == pytest.approx(6.78 * 2**30, rel=0.01)
    assert "6.14 GiB" in oom["message"]
