"""Texts that a script of its own cuts into blocks, whether they are here or not.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu rtx-4090``).

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_texts_in_blocks import NUMBERED, SCRIPT, TRACED, peaks


@pytest.mark.parametrize(
    "numbered", [NUMBERED, "[ord(each) for each in text]", "list(text.encode('utf-8'))"]
)
@pytest.mark.parametrize("is_here", [True, False])
def test_blocks_of_a_text_are_as_long_as_they_are_cut(
    tmp_path: Path, numbered: str, *, is_here: bool
) -> None:
    if is_here:
        (tmp_path / "words.txt").write_text("The quick brown fox. " * 50_000, encoding="utf-8")
    assert peaks(tmp_path, SCRIPT.replace(NUMBERED, numbered)) == TRACED
