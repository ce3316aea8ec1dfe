"""Choosing rules by code, prefix and name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.linting.registry import Registry, Selection, UnknownRule
from nanolint.rule import Context, Finding, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator


def nothing(context: Context) -> Iterator[Finding]:
    """Report nothing."""
    del context
    yield from ()


def toy(code: str, name: str, *, default: bool = True, family: str | None = None) -> Rule:
    return Rule(code, name, Severity.INFO, nothing, __name__, default=default, family=family)


REGISTRY = Registry(
    (
        toy("NL101", "predicted-oom", family="oom"),
        toy("NL102", "oversized-logits", family="oom"),
        toy("NL105", "idle-memory", default=False),
        toy("NL201", "compile-on-small-gpu"),
        toy("NL401", "deprecated-grad-scaler"),
    )
)


def chosen(*select: str, extend: tuple[str, ...] = (), ignore: tuple[str, ...] = ()) -> list[str]:
    rules = REGISTRY.choose(Selection(tuple(select), tuple(extend), tuple(ignore)))
    return [rule.code for rule in rules]


def test_without_a_selection_the_default_rules_run() -> None:
    assert chosen() == ["NL101", "NL102", "NL201", "NL401"]


def test_a_selection_replaces_the_defaults() -> None:
    assert chosen("NL2", "deprecated-grad-scaler") == ["NL201", "NL401"]


def test_extend_select_adds_to_the_defaults() -> None:
    assert "NL105" in chosen(extend=("idle-memory",))


def test_a_prefix_does_not_select_what_is_off_by_default() -> None:
    assert chosen("NL1") == ["NL101", "NL102"]
    assert "NL105" not in chosen(extend=("NL",))
    for named in ("NL105", "idle-memory", "ALL"):
        assert "NL105" in chosen("NL1", named)


def test_a_prefix_ignores_what_is_off_by_default() -> None:
    assert "NL105" not in chosen("ALL", ignore=("NL1",))


def test_selecting_one_of_a_family_selects_all_and_ignoring_it_ignores_one() -> None:
    assert chosen("NL102") == ["NL101", "NL102"]
    assert chosen(ignore=("predicted-oom",)) == ["NL102", "NL201", "NL401"]


def test_the_more_specific_selector_wins() -> None:
    assert chosen("NL401", ignore=("NL4",)) == ["NL401"]
    assert chosen("NL", ignore=("NL4", "NL1")) == ["NL201"]
    assert chosen("ALL", ignore=("NL105",)) == ["NL101", "NL102", "NL201", "NL401"]


def test_ignoring_beats_selecting_with_the_same_selector() -> None:
    assert chosen("NL201", ignore=("NL201",)) == []


def test_case_does_not_matter() -> None:
    assert chosen("nl201") == ["NL201"]


@pytest.mark.parametrize("selector", ["NL999", "", "oversized-logit", "nan"])
def test_an_unknown_selector_is_an_error_in_one_line(selector: str) -> None:
    with pytest.raises(UnknownRule) as error:
        chosen(selector)
    assert "\n" not in str(error.value)


def test_a_misspelt_name_is_suggested() -> None:
    with pytest.raises(UnknownRule, match="did you mean oversized-logits"):
        REGISTRY.find("oversized-logit")
