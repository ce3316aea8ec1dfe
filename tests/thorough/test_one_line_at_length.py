"""The scripts of this repository with one line changed that the tables leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tables.test_one_line import MOST, ROWS, holds, with_setup

if TYPE_CHECKING:
    from nanolint.linting.setup import Setup

__all__ = ["with_setup"]


@pytest.mark.parametrize("row", ROWS[MOST:], ids=lambda row: f"{row['file']}:{row['line']}")
def test_a_changed_line_is_judged_as_before(row: dict[str, object], setup: Setup) -> None:
    holds(row, setup)
