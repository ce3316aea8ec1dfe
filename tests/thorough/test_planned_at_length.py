"""A graph that was planned for one text of a script is not planned again for another one, and what
comes of it is what planning it would have made.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.inductor.derive import plans

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.inductor.derive.plans import Planning
from tests.unit.inductor.test_planned import NUMBERS, SMALLER, made, told


@pytest.mark.parametrize("number", NUMBERS)
def test_another_text_has_the_plans_of_the_first(
    tmp_path: Path, number: int, made: list[Planning]
) -> None:
    first, second = (told(tmp_path, number, note) for note in ("first", "second"))
    assert made
    made.clear()
    third = told(tmp_path, number, "third")
    assert not made  # the process's first reading may have kept none, the second has
    assert first == second == third


@pytest.mark.parametrize("number", NUMBERS)
def test_another_card_has_its_own_plans(
    tmp_path: Path, number: int, made: list[Planning], monkeypatch: pytest.MonkeyPatch
) -> None:
    for note in ("first", "second"):
        told(tmp_path, number, note)
    after = told(tmp_path, number, "third", SMALLER)
    monkeypatch.setattr(plans, "_known", {})
    made.clear()
    assert told(tmp_path, number, "fourth", SMALLER) == after
    assert made


__all__ = ["made"]  # fixtures
