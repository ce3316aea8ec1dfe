"""Names, codes, modules and metadata of the rules agree, and the index is that of the rules."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING

import pytest

from nanolint_rules import RULES
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from nanolint.rule import Rule


PREFIXES = {
    "reading": "NL0",
    "memory": "NL1",
    "gpu": "NL2",
    "config": "NL3",
    "torch": "NL4",
    "running": "NL6",
    "training": "NL5",
}

# "allow NAME" must read well: a name says what is bad, never what to do about it.
CURES: tuple[str, ...] = (
    "allow",
    "avoid",
    "check",
    "disallow",
    "do-not",
    "dont",
    "fix",
    "must",
    "no",
    "not",
)
CURES += ("prefer", "require", "should", "use")

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


@every_rule
def test_a_name_names_the_bad_thing(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert not rule.name.startswith(tuple(f"{cure}-" for cure in CURES))


@every_rule
def test_a_module_is_named_as_its_rule(rule: Rule) -> None:
    package, topic, module = rule.module.split(".")
    assert (package, module) == ("nanolint_rules", rule.name.replace("-", "_"))
    assert rule.check.__name__ == module
    assert re.fullmatch(PREFIXES[topic] + r"\d\d", rule.code)


@every_rule
def test_a_summary_is_one_sentence(rule: Rule) -> None:
    doc = rule.check.__doc__
    assert doc is not None
    assert rule.summary.endswith(".")
    assert len(rule.summary) < 100


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


def test_every_module_of_a_topic_is_a_rule_or_a_helper() -> None:
    modules = {rule.module for rule in RULES}
    for path in (ROOT / "rules" / "nanolint_rules").glob("*/*.py"):
        name = f"nanolint_rules.{path.parent.name}.{path.stem}"
        assert name in modules or path.stem.startswith("_"), f"{name} is not in RULES"
    for path in (ROOT / "rules" / "nanolint_rules").glob("*/*.md"):
        assert path.with_suffix(".py").exists(), f"{path.name} is the page of no rule"


def test_the_index_is_up_to_date() -> None:
    script = ROOT / "scripts" / "build_rule_index.py"
    spec = importlib.util.spec_from_file_location("build_rule_index", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    index = (ROOT / "rules" / "README.md").read_text(encoding="utf-8")
    assert index == module.build(), "run scripts/build_rule_index.py"
