"""docs/advice.md holds the replay's figures, and verdicts that they bear out.

These take seconds each.
"""

from __future__ import annotations

import runpy

from tests.stories.test_advice import PAGE
from tests.support.repository import ROOT


def test_the_page_is_what_its_script_writes() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "build_advice.py"))
    assert script["page"]() == PAGE.read_text(encoding="utf-8"), "python scripts/build_advice.py"
