"""Every rule's page, run: what its examples say is what nanolint says.

``NANOLINT_UPDATE_PAGES=1 pytest tests/stories/test_pages.py`` rewrites the quoted output.
"""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING

import pytest

from nanolint.diagnostics import Safety
from nanolint.rule import FixAvailability, Rule
from tests.support.harness import RULES, lines
from tests.support.pages import SECTIONS, Page, read

if TYPE_CHECKING:
    from pathlib import Path

UPDATE = os.environ.get("NANOLINT_UPDATE_PAGES") == "1"

SAFETY = {Safety.SAFE: "safe", Safety.UNSAFE: "unsafe", Safety.DISPLAY: "shown"}

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
def test_examples_are_found_and_fixed_as_the_page_says(rule: Rule, tmp_path: Path) -> None:
    """Where nothing is fixed, what stands under "Use instead" at least is clean."""
    page = page_of(rule)
    text = page.text
    offered: set[Safety] = set()
    examples = list(zip(page.examples, page.cures, strict=True))
    for number, (example, cure) in reversed(list(enumerate(examples))):
        assert example.printed is not None, "an example needs the output below it"
        bench = example.bench(rule.code, tmp_path / str(number))
        found = bench.findings(example.block.body)
        printed = "".join(f"{line}\n" for line in lines(found, example.block.body, example.name))
        assert printed, "the rule finds nothing"
        if UPDATE:
            start, old = example.printed.start, example.printed.body
            text = text[:start] + printed + text[start + len(old) :]
        else:
            assert printed == example.printed.body
        safeties = {each.fix.safety for each in found if each.fix is not None}
        offered |= safeties
        cured = cure.block.body
        if safeties - {Safety.DISPLAY}:
            assert bench.fixed(example.block.body, unsafe=True) == cured
        ast.parse(cured)
        assert bench.findings(cured) == []
    if text != page.text:
        page.path.write_text(text, encoding="utf-8", newline="")
    assert bool(offered) == (rule.fix is not FixAvailability.NONE), "the metadata says otherwise"
    said = set(re.findall(r"\w+", page.sections["Fix safety"].lower()))
    assert {SAFETY[safety] for safety in offered} <= said, "the page says otherwise"


@every_rule
def test_counterexamples_are_not_reported(rule: Rule, tmp_path: Path) -> None:
    page = page_of(rule)
    assert page.counterexamples
    for number, example in enumerate(page.counterexamples):
        assert example.heading, "a counterexample needs its reason as a heading"
        bench = example.bench(rule.code, tmp_path / str(number))
        assert bench.findings(example.block.body) == [], example.heading
