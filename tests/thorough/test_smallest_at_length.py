"""The smallest card that would do.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace

from nanolint.verdict.ladder import smallest_card
from tests.support.runs import GPT2
from tests.unit.verdict.test_smallest import ANYWHERE


def test_of_cards_of_one_size_a_measured_one_comes_first() -> None:
    found = smallest_card(replace(GPT2, batch_size=8), ANYWHERE)
    assert found is not None
    assert not found.estimated
