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
from tests.support.harness import RULES
from tests.support.pages import SECTIONS, Page, read

if TYPE_CHECKING:
    from pathlib import Path

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
def test_examples_print_what_the_page_says(rule: Rule, tmp_path: Path) -> None:
    page = page_of(rule)
    text = page.text
    for number, example in reversed(list(enumerate(page.examples))):
        assert example.printed is not None, "an example needs the output below it"
        bench = example.bench(rule.code, tmp_path / str(number))
        printed = "".join(f"{line}\n" for line in bench.lines(example.block.body, example.name))
        assert printed, "the rule finds nothing"
        if UPDATE:
            start, old = example.printed.start, example.printed.body
            text = text[:start] + printed + text[start + len(old) :]
        else:
            assert printed == example.printed.body
    if text != page.text:
        page.path.write_text(text, encoding="utf-8", newline="")


@every_rule
def test_fixed_examples_are_what_the_page_says(rule: Rule, tmp_path: Path) -> None:
    """Where nothing is fixed, what stands under "Use instead" at least is clean."""
    page = page_of(rule)
    offered: set[Safety] = set()
    for number, (example, cure) in enumerate(zip(page.examples, page.cures, strict=True)):
        bench = example.bench(rule.code, tmp_path / str(number))
        text, cured = example.block.body, cure.block.body
        safeties = {each.fix.safety for each in bench.findings(text) if each.fix is not None}
        offered |= safeties
        if safeties - {Safety.DISPLAY}:
            assert bench.fixed(text, unsafe=True) == cured
        ast.parse(cured)
        assert bench.findings(cured) == []
    assert bool(offered) == (rule.fix is not FixAvailability.NONE), "the metadata says otherwise"


@every_rule
def test_counterexamples_are_not_reported(rule: Rule, tmp_path: Path) -> None:
    page = page_of(rule)
    assert page.counterexamples
    for number, example in enumerate(page.counterexamples):
        assert example.heading, "a counterexample needs its reason as a heading"
        bench = example.bench(rule.code, tmp_path / str(number))
        assert bench.findings(example.block.body) == [], example.heading


@every_rule
def test_the_page_says_how_safe_its_fixes_are(rule: Rule, tmp_path: Path) -> None:
    page = page_of(rule)
    words = {Safety.SAFE: "safe", Safety.UNSAFE: "unsafe", Safety.DISPLAY: "shown"}
    said = set(re.findall(r"\w+", page.sections["Fix safety"].lower()))
    for number, example in enumerate(page.examples):
        bench = example.bench(rule.code, tmp_path / str(number))
        fixes = [each.fix for each in bench.findings(example.block.body)]
        assert {words[fix.safety] for fix in fixes if fix is not None} <= said
