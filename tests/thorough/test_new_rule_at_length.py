"""The script that starts a rule, as docs/adding/rule.md tells a newcomer to use it.

These take seconds each.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.pages import SECTIONS, read
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path
from tests.stories.test_new_rule import checkout, new_rule


@pytest.mark.parametrize("topic", ["config", "memory", "gpu"])
def test_a_new_rule_is_found_selected_and_reports(checkout: Path, topic: str) -> None:
    made = new_rule(checkout, "NL399", "short-context", topic)
    assert made.returncode == 0, made.stderr
    assert made.stdout.splitlines() == [
        f"rules/nanolint_rules/{topic}/short_context.py",
        f"rules/nanolint_rules/{topic}/short_context.md",
        "rules/nanolint_rules/__init__.py",
    ]
    page = read(checkout / "rules" / "nanolint_rules" / topic / "short_context.md")
    assert (page.code, list(page.sections)) == ("NL399", SECTIONS)
    code = (
        "import sys\n"
        f"sys.path[:0] = [{str(checkout / 'rules')!r}, {str(ROOT)!r}]\n"
        "from nanolint.cli.main import main\n"
        "options = ['--isolated', '--select', 'NL399', '--output-format', 'concise']\n"
        "sys.exit(main([*options, 'a.py']))\n"
    )
    (checkout / "a.py").write_text("batch_size = 4\nblock_size = 8\n")
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=checkout
    )
    assert told.returncode == 1, told.stderr
    assert told.stdout.startswith("a.py:2:1: NL399")


__all__ = ["checkout"]  # fixtures
