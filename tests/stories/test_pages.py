"""Every rule's page, run: what its examples say is what nanolint says.

``NANOLINT_UPDATE_PAGES=1 pytest tests/stories/test_pages.py`` rewrites the quoted output.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from nanolint.diagnostics import Safety
from tests.support.harness import RULES
from tests.support.pages import SECTIONS, Page, read

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.rule import Rule

UPDATE = os.environ.get("NANOLINT_UPDATE_PAGES") == "1"

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


def page_of(rule: Rule) -> Page:
    return read(rule.page)


@every_rule
def test_a_page_has_every_section_in_order(rule: Rule) -> None:
    page = page_of(rule)
    assert (page.name, page.code) == (rule.name, rule.code)
    assert list(page.sections) == SECTIONS
    assert all(body.strip() for body in page.sections.values())


@every_rule
def test_the_page_says_how_safe_its_fixes_are(rule: Rule, tmp_path: Path) -> None:
    page = page_of(rule)
    words = {Safety.SAFE: "safe", Safety.UNSAFE: "unsafe", Safety.DISPLAY: "shown"}
    said = set(re.findall(r"\w+", page.sections["Fix safety"].lower()))
    for number, example in enumerate(page.examples):
        bench = example.bench(rule.code, tmp_path / str(number))
        fixes = [each.fix for each in bench.findings(example.block.body)]
        assert {words[fix.safety] for fix in fixes if fix is not None} <= said
