"""The page of public models is what its recorded rows say."""

from __future__ import annotations

import pytest

from validation import zoo_compiled
from validation.accuracy import recorded
from validation.zoo import PAGE, ZOOS, page


@pytest.mark.parametrize("zoo", ZOOS)
def test_the_page_has_the_recorded_rows(zoo: str) -> None:
    assert page(recorded(zoo), zoo) in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("zoo", ZOOS)
def test_the_rows_are_the_entries_of_the_zoo(zoo: str) -> None:
    known = {(entry.repository, entry.path, entry.cls) for entry in ZOOS[zoo]}
    rows = recorded(zoo)
    assert {(row["repository"], row["path"], row["class"]) for row in rows} == known
    assert all(row["commit"] for row in rows)


@pytest.mark.parametrize("zoo", ZOOS)
def test_what_was_read_and_ran_is_off_by_at_most_one_percent(zoo: str) -> None:
    rows = [row for row in recorded(zoo) if row["result"] in ("exact", "off")]
    assert sum(row["result"] == "exact" for row in rows) >= 0.9 * len(rows)
    for row in rows:
        assert abs(row["read_bytes"] / row["torch_bytes"] - 1) <= 0.01, row["repository"]


def test_the_two_have_no_repository_in_common() -> None:
    one, other = ({entry.repository for entry in ZOOS[zoo]} for zoo in ZOOS)
    assert not one & other


def test_what_is_derived_whole_is_equal() -> None:
    rows = zoo_compiled.recorded()
    assert zoo_compiled.page(rows) in PAGE.read_text(encoding="utf-8")
    for row in rows:
        if "torch" in row and "read" in row and not row["doubts"]:
            assert row["read"] == row["torch"], row["repository"]
