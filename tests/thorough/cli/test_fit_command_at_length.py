"""``fit``: a row for each card, from 8 to 192 GB or as named.

These take seconds each.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.stories.cli.test_fit_command import config
from tests.support.command import nanolint


def test_a_dozen_usual_cards_by_size(config: str) -> None:
    cards = json.loads(nanolint("fit", config, "--format=json").out)["cards"]
    assert len(cards) == 12
    totals = [card["total_bytes"] for card in cards]
    assert totals == sorted(totals)
    assert totals[0] < 8 * 2**30
    assert totals[-1] > 170 * 2**30


def test_where_none_fits(config: str) -> None:
    Path(config).write_text("init_from = 'gpt2-xl'\nbatch_size = 1\n", encoding="utf-8")
    outcome = nanolint("fit", config, "--gpu=rtx-3060")
    assert outcome.status == 0
    assert "none fits" in outcome.out
    (card,) = json.loads(nanolint("fit", config, "--gpu=rtx-3060", "--format=json").out)["cards"]
    assert card["fit"] is None


__all__ = ["config"]  # fixtures
