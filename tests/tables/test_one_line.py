"""Scripts of this repository with one line changed: nanolint says of each what it said before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nanolint.gpus.lookup import find
from nanolint.linting import registry
from nanolint.linting.engine import lint
from nanolint.linting.setup import Setup
from validation.one_line import OF_STOPS, TABLE

SCRIPTS = Path(__file__).parents[2] / "validation" / "scripts"
ROWS = [each for each in json.loads(TABLE.read_text("utf-8")) if each["name"] == "scripts"]
MOST = 60  # that are read
WRONG = ("MISSED", "FALSE ERROR")


@pytest.fixture(scope="module", name="setup")
def with_setup() -> Setup:
    rules = tuple(
        each for each in registry.load().rules if each.code.startswith(("NL6", *OF_STOPS))
    )
    return Setup(rules=rules, known_codes={}, targets=(find("a100-80gb"),))


def holds(row: dict[str, object], setup: Setup) -> None:
    """Asserts that the errors of a changed script are those that were recorded."""
    path = SCRIPTS / str(row["file"])
    lines = path.read_text("utf-8").split("\n")
    if row["new"]:
        old = lines[int(str(row["line"])) - 1]
        indent = old[: len(old) - len(old.lstrip())]
        lines[int(str(row["line"])) - 1] = indent + str(row["new"])
    found = {each.code for each in lint("\n".join(lines), path, setup).diagnostics}
    expected = {code for code in row["codes"] if code.startswith(("NL6", *OF_STOPS))}  # type: ignore[attr-defined]
    assert found == expected
    assert row["verdict"] not in WRONG


@pytest.mark.parametrize("row", ROWS[:MOST], ids=lambda row: f"{row['file']}:{row['line']}")
def test_a_changed_line_is_judged_as_before(row: dict[str, object], setup: Setup) -> None:
    holds(row, setup)


def test_no_public_trainer_is_misjudged() -> None:
    rows = json.loads(TABLE.read_text("utf-8"))
    assert [each for each in rows if each["verdict"] == "MISSED"] == []
    assert [each for each in rows if each["verdict"] == "FALSE ERROR"] == []
