"""How runs on a card are started and counted, where there is no card.

These take seconds each.
"""

from __future__ import annotations

import sys

from tests.unit.test_card import printing, told
from validation.card import Runs


def test_a_process_that_fails_or_lasts_too_long_leaves_its_reason() -> None:
    failing = [sys.executable, "-c", "import sys; sys.exit('no card')"]
    child = "[sys.executable, '-c', 'import time; time.sleep(600)']"
    lasting = [sys.executable, "-c", f"import subprocess, sys; subprocess.run({child})"]
    silent = [sys.executable, "-c", ""]
    found = told(Runs(600, 2, 600), {"failing": failing, "silent": silent})
    found |= told(Runs(600, 1, 2), {"lasting": lasting})
    assert found["silent"]["error"] == "printed no result"
    assert found["failing"]["error"] == "no card"
    assert found["lasting"]["error"] == "stopped after 2 s"
    late = told(Runs(-1, 1, 600), {"late": printing("{}")})
    assert late["late"]["error"] == "not started: the budget is spent"
