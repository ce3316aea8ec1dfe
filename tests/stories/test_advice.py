"""docs/advice.md holds the replay's figures, and verdicts that they bear out."""

from __future__ import annotations

import pytest

from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "advice.md"


@pytest.fixture(scope="module")
def rows() -> dict[str, list[str]]:
    """The table: advice -> verdict and what it is worth on each example."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("| [")]
    return {name[1 : name.index("]")]: rest for name, *rest in cells}


def test_what_is_false_saves_nothing(rows: dict[str, list[str]]) -> None:
    false = {advice: worth for advice, (verdict, *worth) in rows.items() if verdict == "false"}
    assert "compile = False" in false
    assert not [advice for advice, worth in false.items() if any("saves" in each for each in worth)]


def test_what_is_true_never_costs(rows: dict[str, list[str]]) -> None:
    for verdict, *worth in rows.values():
        if verdict == "true":
            assert all(each.startswith(("saves", "less than")) for each in worth)
