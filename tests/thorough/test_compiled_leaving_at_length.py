"""A compiled model that leaves tensors elsewhere, or keeps its graph: never a sure number.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.record_variations import CARD
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_compiled_leaving import BEFORE, CHANGES


@pytest.mark.parametrize("what", CHANGES)
def test_what_stays_behind_a_compiled_call_is_no_sure_number(tmp_path: Path, what: str) -> None:
    old, new = CHANGES[what]
    text = TEXTS["settings: compiled"]
    assert old in text
    text = text.replace("class GPT(nn.Module):\n", BEFORE).replace(old, new)
    found = explained(tmp_path, text, card=CARD)
    assert found["trust"] != "read" or found["doubts"]
