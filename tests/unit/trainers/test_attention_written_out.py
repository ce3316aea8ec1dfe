"""Attention that is written out, which torch.compile makes one call of: it is read as a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.record_variations import CARD
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

OVER_ROWS = TEXTS["compiled: softmax over rows"]
SCORES = "(q @ k.transpose(-2, -1) / 8).softmax(2)"


def is_told(folder: Path, text: str, release: str) -> bool:
    found = explained(folder, text, "--torch-version", release, card=CARD)
    return any("hand-written attention" in each for each in (*found["doubts"], *found["left_open"]))


@pytest.mark.parametrize(("release", "is_one_call"), [("2.11", True), ("2.15", False)])
def test_a_softmax_over_another_dimension_is_taken_for_attention_before_2_15(
    tmp_path: Path, release: str, *, is_one_call: bool
) -> None:
    assert is_told(tmp_path, OVER_ROWS, release) is is_one_call


@pytest.mark.parametrize("scores", ["(q @ k.transpose(-2, -1) * 0.1)", "(q / 8 @ k.mT)"])
def test_scores_are_scaled_by_a_number_at_most(tmp_path: Path, scores: str) -> None:
    assert is_told(tmp_path, OVER_ROWS.replace(SCORES, f"{scores}.softmax(-1)"), "2.11")


@pytest.mark.parametrize(
    "weights",
    [
        "(q @ k.mT / 8).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -1e9)",
        "(q @ k.mT / 8 + torch.ones(T, T, device=x.device).triu(1).to(q.dtype))",
        "(q @ k.mT / 8).float().tanh()",
    ],
)
def test_other_attention_is_computed_as_it_is_written(tmp_path: Path, weights: str) -> None:
    assert not is_told(tmp_path, OVER_ROWS.replace(SCORES, f"{weights}.softmax(-1)"), "2.11")


def test_neither_is_attention_in_float32(tmp_path: Path) -> None:
    text = OVER_ROWS.replace("dtype=torch.bfloat16)", "dtype=torch.bfloat16, enabled=False)")
    assert not is_told(tmp_path, text, "2.11")
